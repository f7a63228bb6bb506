import { type ObjectRef, refKey } from '../api/index.ts';
import type { Parts } from './parts.ts';
import { isDeclared } from './records.ts';

/**
 * Whether an object that another Plugin declares now is on that one's record, or carries its labels. Before that it stays
 * on the record of the Plugin that had it: were it declared nowhere a moment later, nobody would remove it.
 */
export function isTaken(parts: Pick<Parts, 'plugins' | 'owned'>, from: string, ref: ObjectRef, to: string): boolean {
  const at = refKey(ref);
  const taker = parts.plugins.get(to);
  // A Sync writes what it declares; a namespace need only exist for who asks for it.
  if (taker === undefined || (ref.kind === 'Namespace' && ref.apiVersion === 'v1')) return true;
  if (parts.owned.get(at)?.plugin !== from) return true;
  return (taker.status?.inventory ?? []).some((entry) => isDeclared(entry) && refKey(entry) === at);
}
