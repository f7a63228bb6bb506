import type { InventoryEntry } from '../api/index.ts';

/** In place of a hash in an inventory entry: no longer declared, and asked to go. */
export const LEAVING = 'leaving';
/** In place of a hash: no longer declared, and stays because a deletion rule says so. */
export const KEPT = 'kept';

/** In place of a hash: no longer declared; whether it goes is decided when the whole revision is known. */
export const DROPPED = 'dropped';

export function isDeclared(entry: InventoryEntry): boolean {
  return entry.applied !== LEAVING && entry.applied !== KEPT && entry.applied !== DROPPED;
}
