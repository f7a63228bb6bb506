import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { EspalierError } from '../api/index.ts';
import { createDialer, type Dialer, type ProxySettings } from '../git/dial.ts';
import { discard } from '../git/http.ts';
import { explainLost, type LostWords, readBody } from '../git/lost.ts';
import type { ChartCredentials } from './credentials.ts';
import { refused } from './errors.ts';
import { type PlacePolicy, parsePlace } from './place.ts';

/** Credentials and whom they are for. */
export interface Access {
  credentials: ChartCredentials;
  /** `https://charts.example.com`: nobody else sees the login or our certificate. */
  origin: string;
}

export interface Question {
  url: URL;
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH';
  /** Sent once: whoever is asked may not lead elsewhere with it. */
  body?: Uint8Array | AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
  /** Goes to the origin of `url` alone, whatever redirects say. */
  authorization?: string | undefined;
  signal: AbortSignal;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Where it came from in the end. */
  url: URL;
  body: AsyncIterable<Uint8Array>;
}

const MAX_REDIRECTS = 5;
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
const KEPT_DIALERS = 64;
const LOST: LostWords = {
  timedOut: 'ChartFetchFailed',
  unreachable: 'ChartFetchFailed',
  giveAuthority: 'give the authority that signed it as `ca.crt` in the Secret of the source',
};

/** Requests for charts: every address checked as it is dialled, every redirect by the same rules as the first URL. */
export class Transport {
  readonly #policy: PlacePolicy;
  readonly #proxyFor: (url: URL) => ProxySettings | undefined;
  readonly #words: LostWords;
  readonly #dialers = new Map<string, Dialer>();

  constructor(policy: PlacePolicy, proxyFor: (url: URL) => ProxySettings | undefined, words: LostWords = LOST) {
    this.#policy = policy;
    this.#proxyFor = proxyFor;
    this.#words = words;
  }

  get policy(): PlacePolicy {
    return this.#policy;
  }

  async get(question: Question, access: Access): Promise<Answer> {
    let { url } = question;
    for (let redirects = 0; ; redirects += 1) {
      const authorized = question.authorization !== undefined && url.origin === question.url.origin;
      const answer = await this.#once(
        question,
        url,
        authorized ? { authorization: question.authorization ?? '' } : {},
        access,
      );
      if (![301, 302, 303, 307, 308].includes(answer.status) || !isQuestion(question.method)) return answer;
      await discard(answer.body);
      if (redirects >= MAX_REDIRECTS) throw this.#lost(url, 'it leads on and on');
      const target = parsePlace(answer.headers.location ?? '', this.#policy, url);
      if (url.protocol === 'https:' && target.protocol !== 'https:') throw this.#lost(url, 'it leaves https');
      url = target;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#dialers.values()].map((dialer) => dialer.close()));
    this.#dialers.clear();
  }

  async #once(question: Question, url: URL, extra: Record<string, string>, access: Access): Promise<Answer> {
    try {
      const { statusCode, headers, body } = await request(url, {
        method: question.method ?? 'GET',
        headers: { 'user-agent': 'espalier', ...question.headers, ...extra },
        ...(question.body === undefined ? {} : { body: bodyOf(question.body) }),
        signal: question.signal,
        dispatcher: await this.#dialer(url, access).reach(url),
      });
      const flat: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) {
        if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
      }
      return { status: statusCode, headers: flat, url, body: readBody(body, url, question.signal, this.#words) };
    } catch (error) {
      throw explainLost(error, url, question.signal, this.#words);
    }
  }

  /** An authority is trusted for all that a source leads to; our own certificate is shown to its host alone. */
  #dialer(url: URL, { credentials, origin }: Access): Dialer {
    const { ca, clientCert, clientKey } = credentials;
    const own = url.origin === origin && clientCert !== undefined && clientKey !== undefined;
    const proxy = this.#proxyFor(url);
    const parts = [ca ?? '', own ? `${clientCert}\n${clientKey}` : '', proxy?.url ?? ''];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
    const known = this.#dialers.get(key);
    if (known !== undefined) return known;
    const dialer = createDialer({
      policy: this.#policy.addresses,
      caBundle: ca,
      clientCertificate: own ? { cert: clientCert, key: clientKey } : undefined,
      proxy,
      connectTimeoutMs: CONNECT_MS,
      silenceMs: SILENCE_MS,
    });
    this.#dialers.set(key, dialer);
    // One that is dropped ends by itself once its connections are idle; closing it would end requests under way.
    for (const oldest of this.#dialers.keys()) {
      if (this.#dialers.size <= KEPT_DIALERS) break;
      this.#dialers.delete(oldest);
    }
    return dialer;
  }

  #lost(from: URL, why: string): EspalierError {
    return refused(`The redirect of ${from.origin}${from.pathname} is refused: ${why}; give the final URL.`);
  }
}

function isQuestion(method: Question['method'] = 'GET'): boolean {
  return method === 'GET' || method === 'HEAD';
}

function bodyOf(body: NonNullable<Question['body']>): Uint8Array | Readable {
  return body instanceof Uint8Array ? body : Readable.from(body, { objectMode: false });
}

/** An answer that is not the one hoped for, said in our words. `what` is "the index of https://…". */
export async function complain(answer: Answer, what: string, authorized: boolean): Promise<never> {
  await discard(answer.body);
  const { status, url } = answer;
  const data = { status };
  if (status === 401 || status === 403) {
    const why = authorized
      ? `did not accept the credentials for ${what} (${status}); check that they are valid and may read it`
      : `asks for credentials for ${what} (${status}); name a Secret with username and password or bearerToken in secretRef`;
    throw new EspalierError('ChartAuthFailed', `${url.host} ${why}.`, { data });
  }
  if (status === 404 || status === 410) {
    throw new EspalierError('ChartNotFound', `${url.host} has no ${what} (${status}); check its URL.`, { data });
  }
  const seconds = Number(answer.headers['retry-after']);
  const wait = Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: Math.min(seconds, 3600) * 1000 } : {};
  const temporary = status === 429 || status >= 500;
  throw new EspalierError(
    'ChartFetchFailed',
    `${url.host} answered ${status} for ${what}; ${temporary ? 'it is tried again' : 'check its URL'}.`,
    { data, ...wait },
  );
}
