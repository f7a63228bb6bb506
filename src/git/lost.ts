import { type ErrorCode, EspalierError, messageOf } from '../api/index.ts';

/** What is said of a server that could not be asked. */
export interface LostWords {
  timedOut: ErrorCode;
  unreachable: ErrorCode;
  /** Where an authority that is not known can be given. */
  giveAuthority: string;
}

const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);

/** Why a request or its answer was lost: our own reason where there is one, else the network's in words for people. */
export function explainLost(error: unknown, url: URL, signal: AbortSignal, words: LostWords): unknown {
  if (signal.aborted) return signal.reason;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof EspalierError) return cause;
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (TIMED_OUT.has(code)) {
    return new EspalierError(words.timedOut, `${url.host} did not answer in time.`, { cause: error });
  }
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/.test(code);
  const help = certificate ? `its certificate is not trusted; ${words.giveAuthority}` : messageOf(error) || code;
  return new EspalierError(words.unreachable, `${url.host} can't be reached: ${help}.`, {
    cause: error,
    data: { code },
  });
}

/** An answer's body whose loss is explained in the same words. */
export async function* readBody(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  signal: AbortSignal,
  words: LostWords,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw explainLost(error, url, signal, words);
  }
}
