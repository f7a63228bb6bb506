import { describeRef, type ErrorCode, EspalierError, groupOf } from '../api/index.ts';
import type { ExchangeFailure, Headers } from './exchange.ts';
import type { Verb } from './kubeclient.ts';
import { misfitHint, misfitsIn } from './misfit.ts';
import { type KubeStatus, readStatus } from './status.ts';

/** What a request is about, for messages. Kinds and names only, never content. */
export interface Subject {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  path?: string;
}

export interface FieldConflict {
  /** As the server writes it: `.spec.replicas`, `.spec.containers[name="a"].image`. */
  field: string;
  manager: string;
}

/** The error for an answer of 400 and above. `retry` is false where only another request, or a person, can help. */
export function answerFailure(
  verb: Verb,
  subject: Subject,
  answer: { status: number; headers: Headers; body: string },
): EspalierError {
  const status = readStatus(answer.body);
  const misfits = verb === 'apply' ? misfitsIn(status?.message ?? '', { withoutValues: isSecret(subject) }) : undefined;
  if (misfits !== undefined) return misfitFailure(verb, subject, answer.status, misfits);
  const code = codeFor(answer.status, status);
  const conflicts = code === 'KubeApplyConflict' ? conflictsOf(status) : undefined;
  const retryAfterMs = retryAfterOf(answer.headers, status);
  return new EspalierError(
    code,
    `${sentence(verb, subject)}: ${explain(answer.status, status, subject)}${hint(code, conflicts)}`,
    {
      retry: !PERMANENT.has(code),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      data: {
        ...describe(verb, subject),
        status: answer.status,
        reason: status?.reason ?? '',
        ...(status === undefined ? {} : { causes: causesOf(status, subject) }),
        ...(conflicts === undefined ? {} : { conflicts }),
      },
    },
  );
}

/** To ask again would be in vain: the same object never fits. */
function misfitFailure(verb: Verb, subject: Subject, status: number, misfits: readonly string[]): EspalierError {
  const where = misfits.length === 0 ? '' : `: ${misfits.join('; ')}`;
  return new EspalierError(
    'KubeInvalid',
    `${sentence(verb, subject)}: it does not fit the schema of its kind${where}${misfitHint(misfits)}`,
    { retry: false, data: { ...describe(verb, subject), status, reason: 'Invalid', causes: [] } },
  );
}

/** The error for a request that got no whole answer. */
export function exchangeFailure(verb: Verb, subject: Subject, server: string, failure: ExchangeFailure): EspalierError {
  const data = { ...describe(verb, subject), sent: failure.sent };
  const doing = sentence(verb, subject);
  switch (failure.kind) {
    case 'aborted':
      return new EspalierError('Aborted', `${doing}: aborted`, { cause: failure.cause, data });
    case 'timeout':
      return new EspalierError('KubeTimedOut', `${doing}: ${failure.message} from ${server}`, { cause: failure, data });
    case 'broken':
      return new EspalierError('KubeBadAnswer', `${doing}: the answer of ${server} broke off: ${failure.message}`, {
        cause: failure,
        data,
      });
    case 'prevented':
    case 'unreachable':
      return new EspalierError(
        'KubeUnreachable',
        `${doing}: can't reach the API server at ${server}: ${failure.message}${tlsHint(failure)}`,
        { cause: failure, data },
      );
  }
}

/** The error for an answer that says 2xx but is not what Kubernetes says. */
export function badAnswer(verb: Verb, subject: Subject, what: string): EspalierError {
  return new EspalierError(
    'KubeBadAnswer',
    `${sentence(verb, subject)}: ${what}; is there a proxy between us and the API server?`,
    {
      data: describe(verb, subject),
    },
  );
}

export function isSecret(subject: Subject): boolean {
  return subject.kind === 'Secret' && groupOf(subject.apiVersion ?? '') === '';
}

/** `apply Deployment web/frontend` */
export function sentence(verb: Verb, subject: Subject): string {
  return `${verb} ${subjectName(subject)}`;
}

function subjectName({ kind, namespace, name, path }: Subject): string {
  if (kind === undefined) return path ?? 'the API';
  if (name !== undefined) return describeRef({ kind, name, ...(namespace === undefined ? {} : { namespace }) });
  return namespace === undefined ? kind : `${kind} in ${namespace}`;
}

function describe(verb: Verb, subject: Subject): Record<string, unknown> {
  return { verb, object: subjectName(subject), apiVersion: subject.apiVersion ?? '' };
}

const PERMANENT: ReadonlySet<ErrorCode> = new Set(['KubeInvalid', 'KubeAlreadyExists', 'KubeApplyConflict']);

function codeFor(httpStatus: number, status: KubeStatus | undefined): ErrorCode {
  switch (httpStatus) {
    case 400:
    case 405:
    case 413:
    case 415:
    case 422:
      return 'KubeInvalid';
    case 401:
      return 'KubeUnauthorized';
    case 403:
      return 'KubeForbidden';
    case 404:
      return 'KubeNotFound';
    case 409:
      if (status?.reason === 'AlreadyExists') return 'KubeAlreadyExists';
      return status?.details.causes.some((cause) => cause.reason === 'FieldManagerConflict')
        ? 'KubeApplyConflict'
        : 'KubeConflict';
    case 410:
      return 'KubeGone';
    case 429:
      return 'KubeThrottled';
    case 504:
      return 'KubeTimedOut';
    default:
      // In these words, with status 500: etcd takes 1.5 MiB, the API server twice that.
      if (status?.message === 'etcdserver: request is too large') return 'KubeInvalid';
      return httpStatus >= 500 ? 'KubeServerError' : 'KubeBadAnswer';
  }
}

function explain(httpStatus: number, status: KubeStatus | undefined, subject: Subject): string {
  if (status === undefined) return `HTTP ${httpStatus} without a Kubernetes status`;
  const reason = status.reason || `HTTP ${httpStatus}`;
  if (!isSecret(subject)) return status.message || reason;
  // The server quotes refused values, and those of a Secret must stay here.
  const fields = status.details.causes.map((cause) => cause.field).filter((field) => field !== '');
  const webhook = /(?:admission|failed calling) webhook "[\w.-]+"/.exec(status.message)?.[0];
  const parts = [reason, webhook ?? '', fields.length > 0 ? `at ${fields.join(', ')}` : ''];
  return `${parts.filter((part) => part !== '').join(' ')} (the server's message is withheld, it may quote the Secret)`;
}

function causesOf(status: KubeStatus, subject: Subject): { reason: string; field: string; message?: string }[] {
  return isSecret(subject)
    ? status.details.causes.map(({ reason, field }) => ({ reason, field }))
    : status.details.causes;
}

function hint(code: ErrorCode, conflicts: FieldConflict[] | undefined): string {
  switch (code) {
    case 'KubeUnauthorized':
      return '. The credentials are not accepted: renew the token or client certificate';
    case 'KubeForbidden':
      return '. If rights are missing, grant them with a Role or ClusterRole and a binding';
    case 'KubeApplyConflict': {
      const managers = [...new Set(conflicts?.map((conflict) => conflict.manager))].join(', ');
      return `. Leave these fields out, let ${managers || 'the other manager'} give them up, or take them over by force`;
    }
    default:
      return '';
  }
}

const CONFLICT = /^conflict with "((?:[^"\\]|\\.)*)"/;

function conflictsOf(status: KubeStatus | undefined): FieldConflict[] {
  return (status?.details.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map((cause) => ({ field: cause.field, manager: unquote(CONFLICT.exec(cause.message)?.[1] ?? '') }));
}

function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}

/** Seconds, or a date as HTTP also allows. */
function retryAfterOf(headers: Headers, status: KubeStatus | undefined): number | undefined {
  const header = headers['retry-after'];
  const text = Array.isArray(header) ? header[0] : header;
  if (text !== undefined && /^\d+$/.test(text)) return Number(text) * 1000;
  if (status?.details.retryAfterSeconds !== undefined) return status.details.retryAfterSeconds * 1000;
  return undefined;
}

function tlsHint(failure: ExchangeFailure): string {
  const code = failure.cause instanceof Error && 'code' in failure.cause ? String(failure.cause.code) : '';
  if (/^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_)/.test(code)) {
    return '. Its certificate is not signed by the CA in the kubeconfig: check certificate-authority';
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return '. Its certificate is for another name: set tls-server-name';
  return '';
}
