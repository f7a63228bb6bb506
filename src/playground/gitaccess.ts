import { createHash, timingSafeEqual } from 'node:crypto';

export type GitCredential = { user: string; password: string } | { bearerToken: string };

/** Who may use a repository. Without a credential everybody may; `publicRead` opens fetching alone. */
export interface GitAccess {
  credential?: GitCredential;
  publicRead?: boolean;
}

export function mayUse(access: GitAccess, authorization: string | undefined, action: 'read' | 'write'): boolean {
  if (access.credential === undefined) return true;
  if (access.publicRead === true && action === 'read') return true;
  return authorization !== undefined && sameText(authorization, headerFor(access.credential));
}

/** The value of the Authorization header that proves a credential. */
export function headerFor(credential: GitCredential): string {
  if ('bearerToken' in credential) return `Bearer ${credential.bearerToken}`;
  return `Basic ${Buffer.from(`${credential.user}:${credential.password}`).toString('base64')}`;
}

/** What a refused client is asked for. */
export function challengeFor(access: GitAccess): string {
  const scheme = access.credential !== undefined && 'bearerToken' in access.credential ? 'Bearer' : 'Basic';
  return `${scheme} realm="playground"`;
}

function sameText(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}
