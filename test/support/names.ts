import { randomBytes } from 'node:crypto';

/** A name nobody else uses, so that tests can share a cluster: `web-3f9c2a1b`. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}
