import { EspalierError } from '../api/index.ts';
import { discard, type HttpAnswer } from './http.ts';
import { describeBytes, type GitLimits } from './limits.ts';
import { once, readPackets, refusalIn } from './pktline.ts';

type Service = 'upload-pack' | 'receive-pack';

/** The content type of an answer to a method. */
export function answerType(method: string, service: Service = 'upload-pack'): string {
  return `application/x-git-${service}-${method === 'POST' ? 'result' : 'advertisement'}`;
}

export function sameOrigin(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin;
}

/** Passes a whole answer of Git's own kind; every other is an error that says what it is and what to do. */
export async function checkAnswer(
  answer: HttpAnswer,
  method: string,
  authorized: boolean,
  repository: string,
  service: Service = 'upload-pack',
): Promise<void> {
  const type = answer.headers['content-type'] ?? '';
  const expected = answerType(method, service);
  const right = service === 'upload-pack' ? 'read' : 'write to';
  if (answer.status === 200 && type.split(';')[0] === expected && answer.headers['content-encoding'] === undefined)
    return;
  await discard(answer.body);
  const { host } = new URL(answer.url);
  const data = { status: answer.status };
  // 203 is how one forge asks to sign in.
  if (answer.status === 401 || answer.status === 403 || answer.status === 203) {
    const led = sameOrigin(answer.url, repository)
      ? ''
      : ' (the URL redirects there, and credentials stay behind; give the final URL)';
    const why = authorized
      ? `did not accept the credentials (${answer.status}); check that they are valid and may ${right} the repository`
      : `asks for credentials (${answer.status})${led || '; give a Secret with username and password, bearerToken or a GitHub App'}`;
    throw new EspalierError('GitAuthFailed', `${host} ${why}.`, { data });
  }
  if (answer.status === 404 || answer.status === 410) {
    const hint = authorized
      ? 'check the path, and that the credentials may read it'
      : 'check the path, or give credentials if it is private';
    throw new EspalierError('GitNotFound', `${host} has no repository at that path (${answer.status}); ${hint}.`, {
      data,
    });
  }
  if (answer.status === 429 || answer.status >= 500) {
    const seconds = Number(answer.headers['retry-after']);
    const wait = Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: Math.min(seconds, 3600) * 1000 } : {};
    throw new EspalierError('GitUnreachable', `${host} answered ${answer.status}; it is tried again.`, {
      data,
      ...wait,
    });
  }
  const what = answer.status === 200 ? `with ${describeType(type)} instead of Git's protocol` : `${answer.status}`;
  throw new EspalierError('GitProtocolError', `${host} answered ${what}; check that the URL is the one for cloning.`, {
    data,
  });
}

function describeType(type: string): string {
  const plain =
    type
      .split(';')[0]
      ?.replace(/[^\w/+.-]/g, '')
      .slice(0, 60) ?? '';
  return plain === 'text/html' ? 'a web page' : plain === '' ? 'something' : plain;
}

/** A list of refs or capabilities, whole and ended as the protocol ends one. */
export async function readList(answer: HttpAnswer, limits: GitLimits): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body) {
    bytes += part.length;
    if (bytes > limits.listingBytes) {
      throw new EspalierError(
        'GitTooLarge',
        `The repository lists more than ${describeBytes(limits.listingBytes)} of branches and tags.`,
      );
    }
    parts.push(part);
  }
  const whole = Buffer.concat(parts);
  let last: string | undefined;
  for await (const packet of readPackets(once(whole))) {
    const refusal = refusalIn(packet);
    if (refusal !== undefined) throw refused(refusal);
    last = packet.marker;
  }
  if (last !== 'flush') throw endedEarly();
  return whole;
}

export function unsupported(what: string): EspalierError {
  return new EspalierError('GitProtocolError', `The repository uses ${what}, which are not supported.`, {
    retry: false,
  });
}

export function endedEarly(): EspalierError {
  return new EspalierError('GitProtocolError', "The server's answer ended too early; trying again may help.");
}

/** What a server refuses inside the protocol. Its words are kept whole: they are shortened once secrets are out of them. */
export function refused(message: string): EspalierError {
  const code = /not our ref|unadvertised object/i.test(message)
    ? 'GitRefMissing'
    : /not found|not exported/i.test(message)
      ? 'GitNotFound'
      : 'GitProtocolError';
  return new EspalierError(code, `The server refused: ${message.replace(/\p{Cc}/gu, ' ')}`);
}
