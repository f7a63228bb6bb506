import { EspalierError, isError, messageOf } from '../api/index.ts';
import { withDeadline } from '../git/deadline.ts';
import type { Dialer } from '../git/dial.ts';
import { exchange, readWhole } from '../git/http.ts';
import type { LostWords } from '../git/lost.ts';
import { redactor } from '../git/redact.ts';
import type { UrlPolicy } from '../git/url.ts';
import type { Gate } from './limit.ts';
import { refusalOf, saidBy, shortened } from './refusal.ts';

export interface Question {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the root of the API, each part encoded: `/repos/o/r`. */
  path: string;
  query?: Readonly<Record<string, string | number>>;
  body?: unknown;
  /** What it is about, for errors: "the statuses of commit 1f2e". */
  what: string;
  /** The rights that it takes, in the forge's words. */
  needs: string;
  /** A write that people see, of which forges allow so many an hour. */
  paced?: boolean;
  /** What must not be seen in an error of this call, besides the login. */
  secrets?: readonly string[];
  /** Another authorization than the usual one. */
  authorize?: (signal: AbortSignal) => Promise<string>;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Its JSON; undefined where the body is empty. */
  body: unknown;
}

export interface AskerOptions {
  /** Root of the API. */
  api: string;
  dialer: Dialer;
  policy: UrlPolicy;
  timeoutMs: number;
  now(): number;
  gate: Gate;
  /** Keys of the Secret, for errors. */
  keys: string;
  headers: Readonly<Record<string, string>>;
  authorize(signal: AbortSignal): Promise<string>;
  /** What must not be seen now; tokens come and go. */
  secrets(): readonly string[];
}

export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

const LARGEST_ANSWER = 10 * 1024 * 1024;
const LOST: LostWords = {
  timedOut: 'ForgeUnreachable',
  unreachable: 'ForgeUnreachable',
  giveAuthority: 'give the authority that signed it as `spec.repository.caRef`',
};

/**
 * One request to a forge and its answer, if that is a success. Anything else is an error of the forge family, with no
 * secret in it; while the forge asks for quiet, it is one without any request.
 */
export function createAsk(options: AskerOptions): Ask {
  const { gate, now } = options;
  const base = new URL(options.api);
  const { host } = base;
  const policy = reachable(options.policy, base.hostname);

  async function send(question: Question, signal: AbortSignal): Promise<Answer> {
    const url = target(question, options.api);
    const json = question.body === undefined ? undefined : Buffer.from(JSON.stringify(question.body));
    const authorization = await (question.authorize ?? options.authorize)(signal);
    const answer = await exchange(options.dialer, policy, {
      method: question.method,
      url,
      headers: {
        accept: 'application/json',
        'user-agent': 'espalier',
        ...options.headers,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      authorization,
      lost: LOST,
      signal,
      ...(json === undefined ? {} : { body: json }),
    });
    const bytes = await readWhole(answer.body, LARGEST_ANSWER);
    if (bytes === undefined) throw badAnswer(question, `is larger than ${LARGEST_ANSWER / 1024 / 1024} MiB`);
    return understand(question, answer.status, answer.headers, bytes.toString('utf8'));
  }

  function understand(question: Question, status: number, headers: Record<string, string>, text: string): Answer {
    const { what, needs } = question;
    const said = { status, headers, text: text.slice(0, 4096) };
    const limited = gate.learn(said, now());
    const hide = hider(question);
    if (limited !== undefined) throw limitedFor(what, limited, status);
    const { ok, value } = parse(text);
    if (status >= 200 && status < 300) {
      if (!ok) throw badAnswer(question, 'is no JSON');
      return { status, headers, body: value };
    }
    const asked = { host, what, needs, keys: options.keys };
    throw refusalOf(status, shortened(hide(ok ? saidBy(value) : '')), asked);
  }

  function limitedFor(what: string, waitMs: number, status?: number): EspalierError {
    return new EspalierError(
      'ForgeLimited',
      `${host} takes no more requests for now; ${what} is tried again in ${Math.ceil(waitMs / 1000)} s.`,
      { retryAfterMs: waitMs, data: { host, ...(status === undefined ? {} : { status }) } },
    );
  }

  function badAnswer({ what }: Question, why: string): EspalierError {
    return new EspalierError(
      'ForgeBadAnswer',
      `The answer of ${host} for ${what} ${why}; check that \`spec.forge.kind\` and \`spec.forge.url\` name its API, and not a login page or proxy.`,
      { data: { host } },
    );
  }

  function hider(question: Question): (text: string) => string {
    return redactor([...options.secrets(), ...(question.secrets ?? [])]);
  }

  return async (question, signal) => {
    const closed = gate.wait(now());
    if (closed > 0) throw limitedFor(question.what, closed);
    const spent = question.paced === true ? gate.takeWrite(now()) : 0;
    if (spent > 0) throw limitedFor(question.what, spent);
    try {
      return await withDeadline(`The answer of ${host} for ${question.what}`, options.timeoutMs, [signal], (inner) =>
        send(question, inner),
      );
    } catch (error) {
      throw withoutSecrets(asForgeError(error, host), hider(question));
    }
  };
}

/** Failures below the API (addresses, redirects, time, the App's token) in the words of this family. */
function asForgeError(error: unknown, host: string): EspalierError {
  if (!(error instanceof EspalierError)) {
    return new EspalierError('ForgeBadAnswer', `${host} gave an answer that can't be understood: ${messageOf(error)}`);
  }
  const code = (
    {
      GitTimedOut: 'ForgeUnreachable',
      GitUnreachable: 'ForgeUnreachable',
      GitBadUrl: 'ForgeRefused',
      GitAuthFailed: 'ForgeAuthFailed',
      GitProtocolError: 'ForgeBadAnswer',
    } as const
  )[error.code as string];
  if (code === undefined) return error;
  return new EspalierError(code, error.message, { data: error.data, retry: error.retry, cause: error.cause });
}

/** The same error, and where it held a secret, another without it and without its cause. */
function withoutSecrets(error: EspalierError, hide: (text: string) => string): EspalierError {
  const { code, message, data, retry, retryAfterMs, cause } = error;
  const clean = hide(message);
  const facts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) facts[key] = typeof value === 'string' ? hide(value) : value;
  const kept = cause !== undefined && hide(messageOf(cause)) === messageOf(cause) ? { cause } : {};
  return new EspalierError(code, clean, {
    data: facts,
    retry,
    ...kept,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function target({ path, query }: Question, api: string): string {
  const url = new URL(`${api}${path}`);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value));
  return url.href;
}

function parse(text: string): { ok: boolean; value: unknown } {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, value: undefined };
  }
}

/** Where only some hosts may be reached, the API of an allowed repository is one more. */
function reachable(policy: UrlPolicy, host: string): UrlPolicy {
  return policy.hosts === undefined ? policy : { ...policy, hosts: [...policy.hosts, host] };
}

/** True for a refusal with one of these statuses. */
export function isRefused(error: unknown, ...statuses: number[]): error is EspalierError {
  return isError(error, 'ForgeRefused') && statuses.includes(Number(error.data.status));
}
