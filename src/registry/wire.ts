import { setTimeout as wait } from 'node:timers/promises';
import { isError } from '../api/index.ts';
import type { ChartCredentials } from '../charts/credentials.ts';
import { answerChallenge, type Grant } from '../charts/oci-auth.ts';
import { parseOci } from '../charts/place.ts';
import { proxyFrom } from '../charts/proxy.ts';
import { type Answer, type Question, Transport } from '../charts/transport.ts';
import { withDeadline } from '../git/deadline.ts';
import { discard } from '../git/http.ts';
import type { UrlPolicy } from '../git/url.ts';
import type { Login } from './docker-config.ts';
import { asRegistryError, LOST } from './failure.ts';
import type { Place } from './types.ts';

export interface WireOptions {
  /** Who we are for a host; undefined for nobody. */
  loginFor(host: string): Promise<Login | undefined>;
  /** Hosts, with or without a port, that speak plain http. This machine itself may always. */
  insecure?: readonly string[];
  /** PEM certificates to trust besides the usual ones. */
  ca?: string | undefined;
  /** A certificate of ours, PEM, and its key: for the registry itself, not for a store that it leads to. */
  clientCert?: string | undefined;
  clientKey?: string | undefined;
  /** Which addresses may be asked. Default: all, for a person may; who acts on what others declare says less. */
  addresses?: UrlPolicy;
  /** How long one answer may take to begin. Default 30 s. */
  answerMs?: number;
  /** How often something is asked that failed for a while. Default 5. */
  attempts?: number;
  /** What a registry that has too much to do may ask us to wait, at most. Default 60 s. */
  longestWaitMs?: number;
  now?(): number;
}

export interface Ask {
  method: NonNullable<Question['method']>;
  /** Below `/v2/<repository>/`, or where the registry said. */
  path: string;
  headers?: Record<string, string>;
  /** Made anew for each try. */
  body?: () => Uint8Array | AsyncIterable<Uint8Array>;
  /** A body takes as long as it takes; only its silence is measured. */
  unhurried?: true;
  push?: boolean;
  signal?: AbortSignal | undefined;
}

const FIRST_WAIT_MS = 500;
const ROUNDS = 2;

/** Requests to registries: with a login where it is asked for, again where a failure passes, and never without an end. */
export class Wire {
  readonly #options: WireOptions;
  readonly #transport: Transport;
  readonly #insecure: readonly string[];
  readonly #logins = new Map<string, Promise<Login | undefined>>();
  readonly #grants = new Map<string, Grant>();

  constructor(options: WireOptions) {
    this.#options = options;
    this.#insecure = options.insecure ?? [];
    const policy = { addresses: options.addresses ?? { privateAddresses: true }, plainHttp: this.#insecure };
    this.#transport = new Transport(policy, (url) => proxyFrom(process.env, url), LOST);
  }

  /** Whether anybody said who we are there. */
  async hasLogin(host: string): Promise<boolean> {
    return (await this.#login(host)) !== undefined;
  }

  originOf({ host, repository }: Place): string {
    return parseOci(`oci://${host}/${repository}`, this.#transport.policy, this.#caFor(host) !== undefined).origin;
  }

  async ask(place: Place, ask: Ask): Promise<Answer> {
    const { attempts = 5 } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await this.#once(place, ask);
        const passes = answer.status === 429 || [500, 502, 503, 504].includes(answer.status);
        if (!passes || attempt >= attempts || !(await this.#pause(answer, attempt, ask.signal))) return answer;
      } catch (error) {
        const known = asRegistryError(error, place.host);
        // Silence was waited out already: a second one is not worth it.
        if (!isError(known, 'RegistryFailed') || attempt >= Math.min(attempts, ROUNDS)) throw known;
        await wait(FIRST_WAIT_MS, undefined, { signal: ask.signal });
      }
    }
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** False where the registry asks for more patience than we have. */
  async #pause(answer: Answer, attempt: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { longestWaitMs = 60_000 } = this.#options;
    const asked = Number(answer.headers['retry-after']);
    const ms = Number.isFinite(asked) && asked >= 0 ? asked * 1000 : FIRST_WAIT_MS * 2 ** attempt;
    if (ms > longestWaitMs) return false;
    await discard(answer.body);
    await wait(ms, undefined, { signal });
    return true;
  }

  async #once(place: Place, ask: Ask): Promise<Answer> {
    const { answerMs = 30_000 } = this.#options;
    const run = (signal: AbortSignal) => this.#authorized(place, ask, signal);
    if (ask.unhurried === true) return await run(ask.signal ?? new AbortController().signal);
    return await withDeadline(`${ask.method} ${place.host}/${place.repository}`, answerMs, [ask.signal], run);
  }

  async #authorized(place: Place, ask: Ask, signal: AbortSignal): Promise<Answer> {
    const { host, repository } = place;
    const credentials = { ...(await this.#login(host)), ...this.#trust(host) };
    const origin = this.originOf(place);
    const access = { credentials, origin };
    const url = new URL(ask.path, `${origin}/v2/${repository}/`);
    const key = `${origin} ${repository} ${ask.push === true}`;
    const granted = this.#grants.get(key);
    const now = this.#options.now ?? Date.now;
    const authorization = granted !== undefined && granted.until > now() ? granted.authorization : undefined;
    const send = async (authorized: string | undefined): Promise<Answer> => {
      const { body, method, headers } = ask;
      const content = body === undefined ? {} : { body: body() };
      // What a registry says of where to upload may be another host's: it is not told who we are.
      const own = url.origin === origin ? { authorization: authorized } : {};
      return await this.#transport.get(
        { url, method, ...(headers && { headers }), ...content, ...own, signal },
        access,
      );
    };
    const first = await send(authorization);
    if (first.status !== 401 || url.origin !== origin || first.url.origin !== origin) return first;
    const actions = ask.push === true ? 'pull,push' : 'pull';
    const grant = await answerChallenge(this.#transport, access, repository, first, signal, now(), actions);
    if (grant === undefined || grant.authorization === authorization) return first;
    await discard(first.body);
    this.#grants.set(key, grant);
    return await send(grant.authorization);
  }

  #login(host: string): Promise<Login | undefined> {
    const known = this.#logins.get(host) ?? this.#options.loginFor(host);
    this.#logins.set(host, known);
    return known;
  }

  #trust(host: string): Pick<ChartCredentials, 'ca' | 'clientCert' | 'clientKey'> {
    const ca = this.#caFor(host);
    const { clientCert, clientKey } = this.#options;
    const own = clientCert === undefined || clientKey === undefined ? {} : { clientCert, clientKey };
    return { ...(ca === undefined ? {} : { ca }), ...own };
  }

  #caFor(host: string): string | undefined {
    const isPlain = this.#insecure.some((one) => one === host || one === host.replace(/:\d+$/, ''));
    return isPlain ? undefined : this.#options.ca;
  }
}
