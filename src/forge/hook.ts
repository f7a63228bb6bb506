import { at } from './shape.ts';

export interface Hook {
  about: 'push' | 'pull-request' | 'comment' | 'ping' | 'other';
  /** Tells this delivery from others; a repeated one has it again. */
  delivery?: string;
  /** Of the pull request, where it is about one. */
  number?: number;
}

/** Gitea sends GitHub's headers beside its own, so its own come first. */
const EVENT_HEADERS = ['x-forgejo-event', 'x-gitea-event', 'x-github-event', 'x-gitlab-event', 'x-event-key'];
const DELIVERY_HEADERS = [
  ...['x-forgejo-delivery', 'x-gitea-delivery', 'x-github-delivery'],
  // GitLab: the same for each try of one delivery.
  ...['idempotency-key', 'webhook-id'],
];
/** Ids of what happened rather than of its delivery: a merge that tells of a push and of a pull request has one. */
const CAUSE_HEADERS = ['x-gitlab-event-uuid', 'x-request-uuid', 'x-request-id'];
const NUMBERS = [
  ...['pull_request.number', 'number', 'issue.number'],
  ...['merge_request.iid', 'object_attributes.iid'],
  ...['pullrequest.id', 'pullRequest.id'],
];
const LONGEST_DELIVERY = 200;

/** What a hook is about. Only a hint: nothing in it is believed, and whatever can't be read is left out. */
export function readHook(headers: Headers, body: Uint8Array): Hook {
  // Whoever signs a call of their own, from a pipeline or by hand, and names no event wants a look.
  const event = first(headers, EVENT_HEADERS) ?? 'push';
  const payload = payloadOf(headers, body);
  const about = aboutOf(event, payload);
  const cause = first(headers, CAUSE_HEADERS);
  const delivery = first(headers, DELIVERY_HEADERS) ?? (cause === undefined ? undefined : `${event} ${cause}`);
  const number = about === 'pull-request' || about === 'comment' ? numberIn(payload) : undefined;
  return {
    about,
    ...(delivery === undefined ? {} : { delivery: delivery.slice(0, LONGEST_DELIVERY) }),
    ...(number === undefined ? {} : { number }),
  };
}

function aboutOf(event: string, payload: unknown): Hook['about'] {
  const name = event.toLowerCase();
  if (/^(ping|diagnostics:ping)$/.test(name) || at(payload, 'test') === true) return 'ping';
  // GitHub and Gitea tell of comments on issues by the same name.
  if (name === 'issue_comment')
    return at(payload, 'issue.pull_request') || at(payload, 'is_pull') ? 'comment' : 'other';
  if (name === 'note hook') return at(payload, 'merge_request') ? 'comment' : 'other';
  if (/^(pr:comment:|pullrequest:comment_)|^pull_request_(review_)?comment$/.test(name)) return 'comment';
  if (/^(pr:|pullrequest:)|^(pull_request|merge request hook)/.test(name)) return 'pull-request';
  if (/^(push|push hook|tag push hook|repo:push|repo:refs_changed|create|delete)$/.test(name)) return 'push';
  return 'other';
}

function numberIn(payload: unknown): number | undefined {
  const found = NUMBERS.map((path) => at(payload, path)).find((value) => value !== undefined && value !== null);
  return typeof found === 'number' && Number.isSafeInteger(found) && found > 0 ? found : undefined;
}

/** JSON as it is or as GitHub sends forms: `payload={…}`. */
function payloadOf(headers: Headers, body: Uint8Array): unknown {
  const text = Buffer.from(body).toString('utf8');
  const form = (headers.get('content-type') ?? '').toLowerCase().startsWith('application/x-www-form-urlencoded');
  try {
    return JSON.parse(form ? (new URLSearchParams(text).get('payload') ?? '') : text);
  } catch {
    return undefined;
  }
}

function first(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name)?.trim();
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
