import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

type Proof = { kind: 'hmac'; header: string; prefix: string } | { kind: 'token'; header: string };

/** How each forge proves that a hook is its own. An HMAC is over the raw bytes of the body, in SHA-256. */
const PROOFS: readonly Proof[] = [
  { kind: 'hmac', header: 'x-hub-signature-256', prefix: 'sha256=' },
  { kind: 'hmac', header: 'x-hub-signature', prefix: 'sha256=' },
  { kind: 'hmac', header: 'x-gitea-signature', prefix: '' },
  { kind: 'hmac', header: 'x-forgejo-signature', prefix: '' },
  { kind: 'token', header: 'x-gitlab-token' },
];

/**
 * Whether a hook was sent by somebody who knows the secret. Compares in constant time; a missing secret, a missing or
 * malformed proof and another algorithm are all plain refusals.
 */
export function isProven(headers: Headers, body: Uint8Array, secret: string | undefined): boolean {
  if (secret === undefined || secret === '') return false;
  for (const proof of PROOFS) {
    const given = headers.get(proof.header);
    if (given === null) continue;
    if (proof.kind === 'token') return sameBytes(sha256(given), sha256(secret));
    if (!given.startsWith(proof.prefix)) return false;
    const hex = given.slice(proof.prefix.length);
    if (!/^[0-9a-f]{64}$/i.test(hex)) return false;
    return sameBytes(Buffer.from(hex, 'hex'), createHmac('sha256', secret).update(body).digest());
  }
  return false;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
