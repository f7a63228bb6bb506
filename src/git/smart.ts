import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git';
import { EspalierError } from '../api/index.ts';
import type { Dialer } from './dial.ts';
import { discard, exchange, type HttpAnswer } from './http.ts';
import { describeBytes, type GitLimits } from './limits.ts';
import type { PackSink } from './packsink.ts';
import { readPackets, refusalIn } from './pktline.ts';
import type { UrlPolicy } from './url.ts';

export interface SmartOptions {
  /** The repository's URL, without credentials. */
  url: string;
  dialer: Dialer;
  policy: UrlPolicy;
  limits: GitLimits;
  authorize(signal: AbortSignal): Promise<string | undefined>;
}

export interface SmartClient {
  request(request: GitHttpRequest): Promise<GitHttpResponse>;
  /** Ends with what went wrong while an answer was read: isomorphic-git takes a broken stream for the end of it. */
  rethrow(): void;
}

/** What a repository's server said about itself; kept so that an idle poll is a single request. */
export interface ServerMemory {
  base: string | undefined;
  capabilities: { answer: Buffer; until: number } | undefined;
}

const CAPABILITIES_MS = 10 * 60_000;
const SERVICE = 'git-upload-pack';

/**
 * The HTTP side of one operation of isomorphic-git. It classifies answers, holds lists to being complete (a list cut short must
 * not read as a missing branch), and leads packs past isomorphic-git to `sink`, so that none is ever in memory.
 */
export function smartClient(
  options: SmartOptions,
  memory: ServerMemory,
  signal: AbortSignal,
  sink?: PackSink,
): SmartClient {
  const { url: repository, dialer, policy, limits } = options;
  let failure: unknown;

  async function ask(request: GitHttpRequest): Promise<GitHttpResponse> {
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const version2 = request.headers?.['Git-Protocol'] === 'version=2';
    if (
      method === 'GET' &&
      version2 &&
      memory.capabilities !== undefined &&
      memory.capabilities.until > performance.now()
    ) {
      return respond(request.url, method, once(memory.capabilities.answer));
    }
    const asked = request.url.replace(repository, memory.base ?? repository);
    const body = request.body === undefined ? {} : { body: await collect(request.body) };
    const authorization =
      memory.base === undefined || sameOrigin(memory.base, repository) ? await options.authorize(signal) : undefined;
    const answer = await exchange(dialer, policy, {
      method,
      url: asked,
      headers: request.headers ?? {},
      authorization,
      signal,
      ...body,
    });
    await checkAnswer(answer, method, authorization !== undefined && sameOrigin(answer.url, repository), repository);
    if (method === 'POST' && sink !== undefined) return respond(answer.url, method, divert(answer.body, sink));
    const whole = await readList(answer, limits);
    if (method === 'GET') {
      memory.base = answer.url.replace(/\/info\/refs\?.*$/, '');
      if (version2 && whole.includes('version 2'))
        memory.capabilities = { answer: whole, until: performance.now() + CAPABILITIES_MS };
    }
    return respond(answer.url, method, once(whole));
  }

  async function* divert(body: AsyncIterable<Uint8Array>, pack: PackSink): AsyncGenerator<Uint8Array> {
    try {
      for await (const packet of readPackets(body)) {
        const refusal = refusalIn(packet);
        if (refusal !== undefined) throw refused(refusal);
        const band = packet.data[0];
        if (band === 1) await pack.write(packet.data.subarray(1));
        else if (band === 3) throw refused(packet.data.toString('utf8', 1).trim());
        else if (band !== 2) yield packet.raw;
      }
    } catch (error) {
      failure ??= error;
      throw error;
    }
  }

  return {
    async request(request) {
      try {
        return await ask(request);
      } catch (error) {
        failure ??= error;
        memory.capabilities = undefined;
        memory.base = undefined;
        throw error;
      }
    },
    rethrow() {
      if (failure !== undefined) throw failure;
    },
  };
}

function respond(url: string, method: string, body: AsyncIterableIterator<Uint8Array>): GitHttpResponse {
  const type = method === 'POST' ? `application/x-${SERVICE}-result` : `application/x-${SERVICE}-advertisement`;
  return { url, method, headers: { 'content-type': type }, body, statusCode: 200, statusMessage: 'OK' };
}

async function checkAnswer(answer: HttpAnswer, method: string, authorized: boolean, repository: string): Promise<void> {
  const type = answer.headers['content-type'] ?? '';
  const expected = `application/x-${SERVICE}-${method === 'POST' ? 'result' : 'advertisement'}`;
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
      ? `did not accept the credentials (${answer.status}); check that they are valid and may read the repository`
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
async function readList(answer: HttpAnswer, limits: GitLimits): Promise<Buffer> {
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
  if (last !== 'flush')
    throw new EspalierError('GitProtocolError', "The server's list of refs ended too early; trying again may help.");
  return whole;
}

function refused(message: string): EspalierError {
  const said = message.replace(/[^\x20-\x7e]/g, ' ').slice(0, 200);
  const code = /not our ref|unadvertised object/i.test(message)
    ? 'GitRefMissing'
    : /not found|not exported/i.test(message)
      ? 'GitNotFound'
      : 'GitProtocolError';
  return new EspalierError(code, `The server refused: ${said}`, { data: { said } });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function collect(body: unknown): Promise<Buffer> {
  if (!Array.isArray(body)) throw new EspalierError('Internal', 'A request body of an unknown form.');
  return Buffer.concat(body.filter((part) => part instanceof Uint8Array));
}

function sameOrigin(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin;
}
