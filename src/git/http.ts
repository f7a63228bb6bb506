import { request } from 'undici';
import { EspalierError } from '../api/index.ts';
import type { Dialer } from './dial.ts';
import { explainLost, type LostWords, readBody } from './lost.ts';
import { parseRepositoryUrl, type UrlPolicy } from './url.ts';

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Goes to the origin of `url` and nowhere else, whatever redirects say. */
  authorization?: string | undefined;
  signal: AbortSignal;
  /** What is said when no answer comes; without it, Git's words. */
  lost?: LostWords;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
  /** Where the answer came from in the end. */
  url: string;
  body: AsyncIterable<Uint8Array>;
}

const MAX_REDIRECTS = 5;
const LOST: LostWords = {
  timedOut: 'GitTimedOut',
  unreachable: 'GitUnreachable',
  giveAuthority: 'give the authority that signed it as `ca.crt`',
};

/** One request and its answer, whatever the status. GET follows redirects within the policy; nothing else does. */
export async function exchange(dialer: Dialer, policy: UrlPolicy, asked: HttpRequest): Promise<HttpAnswer> {
  const { origin } = new URL(asked.url);
  let url = new URL(asked.url);
  for (let redirects = 0; ; redirects += 1) {
    const authorized = asked.authorization !== undefined && url.origin === origin;
    const answer = await once(dialer, asked, url, authorized ? { authorization: asked.authorization ?? '' } : {});
    if (![301, 302, 303, 307, 308].includes(answer.status)) return answer;
    await discard(answer.body);
    if (asked.method !== 'GET') throw refusedRedirect(url, 'what is written is not passed on');
    if (redirects >= MAX_REDIRECTS) throw refusedRedirect(url, 'it leads on and on');
    url = redirectTarget(url, answer.headers.location ?? '', policy);
  }
}

async function once(dialer: Dialer, asked: HttpRequest, url: URL, extra: Record<string, string>): Promise<HttpAnswer> {
  const words = asked.lost ?? LOST;
  try {
    const { statusCode, headers, body } = await request(url, {
      method: asked.method,
      headers: { 'user-agent': 'git/espalier', ...asked.headers, ...extra },
      body: asked.body ?? null,
      signal: asked.signal,
      dispatcher: await dialer.reach(url),
    });
    const flat: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    return { status: statusCode, headers: flat, url: url.href, body: readBody(body, url, asked.signal, words) };
  } catch (error) {
    throw explainLost(error, url, asked.signal, words);
  }
}

/** Lets go of an answer that nobody reads, so that its connection is free again. */
export async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > 64 * 1024) break;
    }
  } catch {
    // What was not wanted may also fail.
  }
}

/** An answer's whole body, or undefined where it is larger than `most`: what is not read then is let go of. */
export async function readWhole(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function redirectTarget(from: URL, location: string, policy: UrlPolicy): URL {
  const target = URL.parse(location, from.href);
  if (target === null) throw refusedRedirect(from, 'it leads nowhere');
  if (from.protocol === 'https:' && target.protocol !== 'https:') throw refusedRedirect(from, 'it leaves https');
  if (target.username !== '' || target.password !== '') throw refusedRedirect(from, 'its target holds credentials');
  parseRepositoryUrl(`${target.origin}${target.pathname}`, policy);
  return target;
}

function refusedRedirect(from: URL, why: string): EspalierError {
  return new EspalierError(
    'GitBadUrl',
    `The redirect of ${from.origin}${from.pathname} is refused: ${why}; give the final URL.`,
  );
}
