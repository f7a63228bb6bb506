import type { InventoryEntry } from '../api/index.ts';

/** In place of a hash in an inventory entry: no longer declared, and asked to go. */
export const LEAVING = 'leaving';
/** In place of a hash: no longer declared, and stays because a deletion rule says so. */
export const KEPT = 'kept';

/** In place of a hash: no longer declared; whether it goes is decided when the whole revision is known. */
export const DROPPED = 'dropped';

/**
 * In place of the key of what is applied: something else was begun. From then on what is on record is neither the one
 * nor the other, and who goes back to what was applied has to apply it anew.
 */
export const PARTLY = 'partly';

export function isDeclared(entry: InventoryEntry): boolean {
  return entry.applied !== LEAVING && entry.applied !== KEPT && entry.applied !== DROPPED;
}
