import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

type Kind = 'github' | 'gitlab' | 'gitea' | 'forgejo' | 'bitbucket';
type Proof = (given: string, headers: Headers, body: Uint8Array, secret: string) => boolean;

const HUB = 'x-hub-signature-256';
const HUB_OLD = 'x-hub-signature';
const GITEA = 'x-gitea-signature';
const FORGEJO = 'x-forgejo-signature';
const STANDARD = 'webhook-signature';
const GITLAB = 'x-gitlab-token';

/** How a header proves that a hook is its forge's own. An HMAC is over the raw bytes of the body, in SHA-256. */
const PROOFS: Readonly<Record<string, Proof>> = {
  [HUB]: hex('sha256='),
  [HUB_OLD]: hex('sha256='),
  [GITEA]: hex(''),
  [FORGEJO]: hex(''),
  [STANDARD]: standard,
  [GITLAB]: (given, _headers, _body, secret) => sameBytes(sha256(given), sha256(secret)),
};

/** Strongest first. The first that is there decides alone: a weaker one beside it can't save a hook. */
const HEADERS: Readonly<Record<Kind | 'any', readonly string[]>> = {
  github: [HUB],
  bitbucket: [HUB, HUB_OLD],
  gitea: [GITEA, HUB],
  forgejo: [FORGEJO, GITEA, HUB],
  gitlab: [STANDARD, GITLAB],
  any: [HUB, HUB_OLD, GITEA, FORGEJO, STANDARD, GITLAB],
};

/**
 * Whether a hook was sent by somebody who knows the secret; where the forge is known, in that forge's way and no other.
 * Compares in constant time; a missing secret, a missing or malformed proof and another algorithm are all plain refusals.
 */
export function isProven(headers: Headers, body: Uint8Array, secret: string | undefined, kind?: Kind): boolean {
  if (secret === undefined || secret === '') return false;
  const header = HEADERS[kind ?? 'any'].find((name) => headers.has(name));
  const proof = header === undefined ? undefined : PROOFS[header];
  return header !== undefined && proof?.(headers.get(header) ?? '', headers, body, secret) === true;
}

function hex(prefix: string): Proof {
  return (given, _headers, body, secret) => {
    if (!given.startsWith(prefix)) return false;
    const digits = given.slice(prefix.length);
    if (!/^[0-9a-f]{64}$/i.test(digits)) return false;
    return sameBytes(Buffer.from(digits, 'hex'), createHmac('sha256', secret).update(body).digest());
  };
}

/**
 * Standard Webhooks, as GitLab signs with a signing token: the id and the time are signed too. Its secrets are
 * `whsec_` and a key in base64; several signatures may stand beside each other while a secret is being changed.
 */
function standard(given: string, headers: Headers, body: Uint8Array, secret: string): boolean {
  const id = headers.get('webhook-id');
  const time = headers.get('webhook-timestamp');
  if (id === null || time === null || !secret.startsWith('whsec_')) return false;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  if (key.length === 0) return false;
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  return given
    .split(' ')
    .filter((part) => /^v1,[A-Za-z0-9+/]{43}=$/.test(part))
    .slice(0, 10)
    .some((part) => sameBytes(Buffer.from(part.slice(3), 'base64'), expected));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
