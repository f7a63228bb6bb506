import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../api/errors.ts';

export interface FetchOptions {
  signal?: AbortSignal | undefined;
  /** Until a connection stands, name lookup included. Default 4 s: who waits here has another way to go. */
  connectTimeoutMs?: number | undefined;
  /** Between two pieces of an answer. Default 20 s. */
  idleTimeoutMs?: number | undefined;
  maxBytes: number;
  onProgress?: ((bytes: number, total: number | undefined) => void) | undefined;
  /** Proxies are taken from here. */
  env: Readonly<Record<string, string | undefined>>;
}

/** `unreachable` when nobody answered at all, so that asking the same host again is no use for now. */
export type Fetched<T> = { ok: true; value: T } | { ok: false; why: string; unreachable: boolean };

const REDIRECTS = 5;
const SMALL_TEXT = 4 * 1024 * 1024;

/** Writes what a URL gives into a new file, and answers its sha256. */
export async function fetchFile(url: URL, destination: string, options: FetchOptions): Promise<Fetched<string>> {
  return fetched(url, options, async (response) => {
    const hash = createHash('sha256');
    await pipeline(response, counted(response, options, hash), createWriteStream(destination, { flags: 'wx' }));
    return hash.digest('hex');
  });
}

export async function fetchText(url: URL, options: Omit<FetchOptions, 'maxBytes'>): Promise<Fetched<string>> {
  const bounded = { ...options, maxBytes: SMALL_TEXT };
  return fetched(url, bounded, async (response) => {
    const chunks: Buffer[] = [];
    await pipeline(response, counted(response, bounded), async (stream) => {
      for await (const chunk of stream) chunks.push(Buffer.from(chunk));
    });
    return Buffer.concat(chunks).toString('utf8');
  });
}

async function fetched<T>(
  url: URL,
  options: FetchOptions,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<Fetched<T>> {
  let reached = false;
  try {
    let at = url;
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const response = await ask(at, options);
      reached = true;
      const { statusCode = 0, headers } = response;
      if (statusCode === 200) return { ok: true, value: await read(response) };
      response.destroy();
      if (statusCode < 300 || statusCode > 399 || headers.location === undefined) {
        return { ok: false, why: `${at.host} answered ${statusCode}`, unreachable: false };
      }
      const next = new URL(headers.location, at);
      if (next.protocol !== url.protocol) {
        return { ok: false, why: `${at.host} redirects from ${url.protocol} to ${next.protocol}`, unreachable: false };
      }
      at = next;
    }
    return { ok: false, why: `${url.host} redirects more than ${REDIRECTS} times`, unreachable: false };
  } catch (error) {
    options.signal?.throwIfAborted();
    return { ok: false, why: messageOf(error), unreachable: !reached };
  }
}

/** Resolves with the head of an answer; from then on, silence longer than allowed breaks the stream. */
function ask(url: URL, options: FetchOptions): Promise<IncomingMessage> {
  const { connectTimeoutMs = 4000, idleTimeoutMs = 20_000, signal } = options;
  return new Promise((resolve, reject) => {
    const proxyEnv = { ...options.env };
    const headers = { 'user-agent': 'espalier', accept: '*/*' };
    const common = { headers, ...(signal === undefined ? {} : { signal }) };
    const request =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...common, agent: new HttpsAgent({ proxyEnv }) })
        : httpRequest(url, { ...common, agent: new HttpAgent({ proxyEnv }) });
    const connecting = setTimeout(() => {
      request.destroy(new Error(`no connection to ${url.host} within ${connectTimeoutMs / 1000} s`));
    }, connectTimeoutMs);
    const connected = () => clearTimeout(connecting);
    request.on('socket', (socket) => socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', connected));
    request.setTimeout(idleTimeoutMs, () => {
      request.destroy(new Error(`${url.host} said nothing for ${idleTimeoutMs / 1000} s`));
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.on('close', connected);
    request.end();
  });
}

function counted(
  response: IncomingMessage,
  options: FetchOptions,
  hash?: { update(chunk: Buffer): unknown },
): Transform {
  const length = Number(response.headers['content-length']);
  const total = Number.isFinite(length) ? length : undefined;
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > options.maxBytes) {
        done(new Error(`the answer is larger than ${options.maxBytes} bytes`));
        return;
      }
      hash?.update(chunk);
      options.onProgress?.(bytes, total);
      done(null, chunk);
    },
  });
}
