import { createHash } from 'node:crypto';
import type { KubeObject } from '../api/index.ts';

/**
 * The hash of what a declaration is made of: all it says, and (as ids in its sources) the content of the folders it
 * names. Equal inputs, equal objects: a commit that leaves it the same did not touch this object. The order in which
 * fields are written does not count.
 */
export function inputsOf(object: KubeObject): string {
  return createHash('sha256').update(JSON.stringify(object, sortedFields)).digest('hex');
}

function sortedFields(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
