import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git';
import { EspalierError } from '../api/index.ts';
import type { Dialer } from './dial.ts';
import { exchange } from './http.ts';
import type { GitLimits } from './limits.ts';
import type { PackSink } from './packsink.ts';
import { once, readPackets, refusalIn } from './pktline.ts';
import { answerType, checkAnswer, endedEarly, readList, refused, sameOrigin, unsupported } from './serveranswer.ts';
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
  /** Reads the answer to its end where isomorphic-git no longer waits for that: a pack is whole only then. */
  drain(): Promise<void>;
}

/** What a repository's server said about itself, by protocol version; kept so that an idle poll is a single request, and a fetch another. */
export interface ServerMemory {
  base: string | undefined;
  said: Map<1 | 2, { answer: Buffer; until: number }>;
}

const REMEMBERED_MS = 10 * 60_000;
const REMEMBERED_BYTES = 256 * 1024;

/**
 * The HTTP side of one operation of isomorphic-git. It classifies answers, holds lists to being complete (a list cut short must
 * not read as a missing branch), and leads packs past isomorphic-git to `sink`, so that none is ever in memory. In version
 * 1 a server lists its refs with what it is able to do: only with `byId`, when no ref is looked up in the list, may it be an older one.
 */
export function smartClient(
  options: SmartOptions,
  memory: ServerMemory,
  signal: AbortSignal,
  { sink, byId = false }: { sink?: PackSink; byId?: boolean } = {},
): SmartClient {
  const { url: repository, dialer, policy, limits } = options;
  let failure: unknown;
  let diverted: AsyncGenerator<Uint8Array> | undefined;

  async function ask(request: GitHttpRequest): Promise<GitHttpResponse> {
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const version = request.headers?.['Git-Protocol'] === 'version=2' ? 2 : 1;
    const said = memory.said.get(version);
    if (method === 'GET' && (version === 2 || byId) && said !== undefined && said.until > performance.now())
      return respond(request.url, method, once(said.answer));
    const asked = `${memory.base ?? repository}${request.url.slice(repository.length)}`;
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
    if (method === 'POST' && sink !== undefined) {
      diverted = divert(answer.body, sink);
      return respond(answer.url, method, diverted);
    }
    const whole = await readList(answer, limits);
    if (method === 'GET') {
      if (whole.includes('object-format=sha256')) throw unsupported('SHA-256 object ids');
      memory.base = answer.url.replace(/\/info\/refs\?.*$/, '');
      // isomorphic-git asks no further where no ref is listed. A long list is not worth its memory.
      if (whole.length <= REMEMBERED_BYTES && whole.includes(version === 2 ? 'version 2' : ' refs/'))
        memory.said.set(version, { answer: whole, until: performance.now() + REMEMBERED_MS });
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
      // Even who has everything gets a pack, an empty one.
      if (pack.bytes === 0) throw endedEarly();
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
        memory.said.clear();
        memory.base = undefined;
        throw error;
      }
    },
    rethrow() {
      if (failure !== undefined) throw failure;
    },
    async drain() {
      for await (const _ of diverted ?? []);
    },
  };
}

function respond(url: string, method: string, body: AsyncIterableIterator<Uint8Array>): GitHttpResponse {
  return { url, method, headers: { 'content-type': answerType(method) }, body, statusCode: 200, statusMessage: 'OK' };
}

async function collect(body: unknown): Promise<Buffer> {
  if (!Array.isArray(body)) throw new EspalierError('Internal', 'A request body of an unknown form.');
  return Buffer.concat(body.filter((part) => part instanceof Uint8Array));
}
