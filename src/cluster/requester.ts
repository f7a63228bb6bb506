import { EspalierError } from '../api/index.ts';
import type { Credentials } from './credentials.ts';
import { type Answer, type Call, ExchangeFailure, type Sink } from './exchange.ts';
import { answerFailure, exchangeFailure, type Subject } from './failure.ts';
import { impersonationHeaders } from './impersonation.ts';
import type { CallOptions, Impersonation, RequestReport, Verb } from './kubeclient.ts';
import type { Limiter } from './limiter.ts';
import { type Repeat, retryDelay } from './retry.ts';
import { type Clock, pause } from './timing.ts';
import type { Lane, Transport } from './transport.ts';
import { readWarnings } from './warnings.ts';

export interface KubeRequest {
  verb: Verb;
  subject: Subject;
  method: string;
  path: string;
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  body?: string;
  repeat: Repeat;
  /** It may change the cluster: the guard is asked first. Dry runs are not mutating. */
  mutating?: boolean;
  options?: CallOptions | undefined;
  /** Statuses other than 2xx that are an ordinary answer here. */
  accept?: (status: number) => boolean;
}

/** Who a client acts as, and what it asks before it writes. */
export interface Acting {
  user?: Impersonation;
  guard?: () => void;
}

/** Everything between "do this" and the wire: places, credentials, impersonation, retries, errors, reports. */
export interface Requester {
  send(request: KubeRequest, acting: Acting): Promise<Answer>;
  stream(request: KubeRequest, acting: Acting, sink: Sink): Promise<Answer>;
  /** Whether a watch may be long: on connections that notice their own death. */
  sharesWatches(acting: Acting): boolean;
}

export interface RequesterParts {
  transport: Transport;
  credentials: Credentials;
  limiter: Limiter;
  server: string;
  /** The user of the kubeconfig's own `as`. */
  user?: Impersonation;
  userAgent: string;
  deadlineMs: number;
  clock: Clock;
  random: () => number;
  onRequest?: (report: RequestReport) => void;
  onWarning?: (text: string) => void;
}

export function createRequester(parts: RequesterParts): Requester {
  const { transport, credentials, limiter, clock, random } = parts;
  const basePath = new URL(parts.server).pathname.replace(/\/$/, '');

  async function callFor(request: KubeRequest, acting: Acting): Promise<Call> {
    const authorization = await credentials.authorization();
    const user = acting.user ?? parts.user;
    const call: Call = {
      method: request.method,
      path: `${basePath}${request.path}${queryOf(request.query)}`,
      headers: {
        accept: 'application/json',
        'user-agent': parts.userAgent,
        ...(authorization === undefined ? {} : { authorization }),
        ...(user === undefined ? {} : impersonationHeaders(user)),
        ...request.headers,
      },
      deadlineMs: request.options?.deadlineMs ?? parts.deadlineMs,
    };
    if (request.body !== undefined) call.body = request.body;
    if (request.options?.signal !== undefined) call.signal = request.options.signal;
    if (request.mutating === true && acting.guard !== undefined) call.beforeSend = acting.guard;
    return call;
  }

  /** One try. Throws what the caller of the client shall see. */
  async function attempt(
    lane: Lane,
    request: KubeRequest,
    acting: Acting,
    number: number,
    sink?: Sink,
  ): Promise<Answer> {
    const { verb, subject, options } = request;
    const call = await callFor(request, acting);
    const started = performance.now();
    let status = 0;
    try {
      const answer = await transport.send(lane, call, sink);
      status = answer.status;
      const onWarning = options?.onWarning ?? parts.onWarning;
      if (onWarning !== undefined) for (const warning of readWarnings(answer.headers)) onWarning(warning);
      if ((status < 200 || status >= 300) && request.accept?.(status) !== true)
        throw answerFailure(verb, subject, answer);
      return answer;
    } catch (error) {
      if (!(error instanceof ExchangeFailure)) throw error;
      if (error.kind === 'prevented') throw error.cause;
      throw exchangeFailure(verb, subject, parts.server, error);
    } finally {
      parts.onRequest?.({ verb, kind: subject.kind ?? '', status, ms: performance.now() - started, attempt: number });
    }
  }

  async function limited(request: KubeRequest, acting: Acting, number: number): Promise<Answer> {
    if (request.options?.urgent === true) return attempt('urgent', request, acting, number);
    const release = await limiter.acquire(request.options?.signal).catch((cause: unknown) => {
      throw new EspalierError('Aborted', `${request.verb}: aborted while waiting for its turn`, { cause });
    });
    try {
      return await attempt('bulk', request, acting, number);
    } finally {
      release();
    }
  }

  return {
    async send(request, acting) {
      const signal = request.options?.signal;
      const until = clock.now() + 2 * (request.options?.deadlineMs ?? parts.deadlineMs);
      for (let number = 1, renewed = false; ; number++) {
        try {
          return await limited(request, acting, number);
        } catch (error) {
          if (!(error instanceof EspalierError)) throw error;
          if (error.code === 'KubeUnauthorized' && !renewed) {
            renewed = true;
            credentials.refresh();
            continue;
          }
          const wait = retryDelay(error, request.repeat, number, random);
          if (wait === undefined || clock.now() + wait > until || signal?.aborted) throw error;
          await pause(wait, clock, signal);
          if (signal?.aborted) throw error;
        }
      }
    },
    async stream(request, acting, sink) {
      const lane = multiplexes(acting.user ?? parts.user) ? 'watch' : 'watch-single';
      try {
        return await attempt(lane, request, acting, 1, sink);
      } catch (error) {
        // The next try of whoever holds the watch then comes with a new token.
        if (error instanceof EspalierError && error.code === 'KubeUnauthorized') credentials.refresh();
        throw error;
      }
    },
    sharesWatches: (acting) => multiplexes(acting.user ?? parts.user) && transport.sharesWatches(),
  };
}

/** Over HTTP/2 undici joins repeated headers into one, which would be one group with a strange name. */
function multiplexes(user: Impersonation | undefined): boolean {
  return user === undefined || ((user.groups?.length ?? 0) <= 1 && user.extra === undefined);
}

/** Every request has one, and URLSearchParams costs several times as much. What is no character is replaced, as there. */
function queryOf(query: Record<string, string | undefined> | undefined): string {
  let text = '';
  for (const name of Object.keys(query ?? {})) {
    const value = query?.[name];
    if (value === undefined) continue;
    text += `${text === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`;
  }
  return text;
}
