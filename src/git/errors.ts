import { EspalierError, messageOf } from '../api/index.ts';

/** Whatever was thrown, as one of ours. A server may repeat what it was told: nothing leaves without `hide`. */
export function asGitError(error: unknown, host: string, hide: (text: string) => string): EspalierError {
  if (error instanceof EspalierError) return withoutSecrets(error, hide);
  const text = hide(messageOf(error));
  if (error instanceof Error && 'syscall' in error) {
    return new EspalierError('Internal', `The folder for repositories can't be used: ${text}`);
  }
  return new EspalierError('GitProtocolError', `${host} gave an answer that can't be understood: ${text}`);
}

const LONGEST = 600;

function withoutSecrets(error: EspalierError, hide: (text: string) => string): EspalierError {
  if (error.message.length > LONGEST) return withoutSecrets(shortened(error, hide), hide);
  const shown = JSON.stringify([error.message, error.data]);
  if (hide(shown) === shown) return error;
  const data: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error.data)) data[key] = typeof value === 'string' ? hide(value) : value;
  return new EspalierError(error.code, hide(error.message), { data, retry: error.retry });
}

/** Shortened after hiding, never before: half a secret would not be recognised. */
function shortened(error: EspalierError, hide: (text: string) => string): EspalierError {
  const message = `${hide(error.message).slice(0, LONGEST - 1)}…`;
  return new EspalierError(error.code, message, { data: error.data, retry: error.retry });
}
