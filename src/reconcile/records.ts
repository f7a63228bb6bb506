import type { InventoryEntry } from '../api/index.ts';

/** In place of a hash in an inventory entry: no longer declared, and asked to go. */
export const LEAVING = 'leaving';
/** In place of a hash: no longer declared, and stays because a deletion rule says so. */
export const KEPT = 'kept';

/** In place of a hash: no longer declared; whether it goes is decided when the whole revision is known. */
export const DROPPED = 'dropped';

/** In place of a hash: no longer declared here but elsewhere, and not taken over yet. */
export const MOVING = 'moving';

/**
 * In place of the key of what is applied: something else was begun. From then on what is on record is neither the one
 * nor the other, and who goes back to what was applied has to apply it anew.
 */
export const PARTLY = 'partly';

const MARKS: ReadonlySet<string> = new Set([LEAVING, KEPT, DROPPED, MOVING]);

/** What becomes of it is decided by what others declare, and may be another thing at the next look. */
export function isUndecided(entry: InventoryEntry): boolean {
  return entry.applied === DROPPED || entry.applied === MOVING;
}

export function isDeclared(entry: InventoryEntry): boolean {
  return !MARKS.has(entry.applied ?? '');
}
