import { type InventoryEntry, type KubeObject, type ObjectRef, refKey, refOf } from '../api/index.ts';

/** The ownership record of a Plugin as a map, and back. Order is that of first ownership, so that status diffs stay small. */
export type Inventory = Map<string, InventoryEntry>;

export function readInventory(entries: readonly InventoryEntry[] | undefined): Inventory {
  return new Map((entries ?? []).map((entry) => [refKey(entry), entry]));
}

/** What is about to be written. */
export interface Intent {
  ref: ObjectRef;
  /** The key under which it runs once. */
  once?: string | undefined;
  /** It gets another UID than the one on record: that one is gone, or goes first. */
  isAnew?: boolean;
}

/**
 * What must be on record before the first write: everything owned so far, and everything about to be written.
 * An entry without a uid says "we meant to create this"; it gives a right to delete only what carries our labels. One
 * without a hash says that nobody knows whether the write that was meant came through.
 */
export function intend(record: Inventory, about: readonly Intent[], hashes: ReadonlyMap<string, string>): Inventory {
  const next = new Map(record);
  for (const { ref, once, isAnew } of about) {
    const key = refKey(ref);
    const known = next.get(key);
    const { applied, ...entry } = entryFor(ref, isAnew === true ? undefined : known, once);
    // What is only put right stays as it is on record: the write says nothing new.
    const isRepair = applied !== undefined && applied === hashes.get(key);
    next.set(key, isRepair ? { ...entry, applied } : entry);
  }
  return next;
}

/** Without `once` it is an object like any other; with another key it has not run. */
function entryFor(ref: ObjectRef, known: InventoryEntry | undefined, key: string | undefined): InventoryEntry {
  const { once, ...entry } = known ?? entryOf(ref);
  if (key === undefined) return entry;
  return { ...entry, once: once?.key === key ? once : { key } };
}

/**
 * The record after an object was written: its uid, what we declared, the fields that the API server holds in our name,
 * and what was meant with it.
 */
export function settled(
  written: KubeObject,
  applied: string,
  fields: string,
  once?: InventoryEntry['once'],
): InventoryEntry {
  const entry = entryOf(refOf(written));
  if (written.metadata.uid !== undefined) entry.uid = written.metadata.uid;
  entry.applied = applied;
  entry.fields = fields;
  if (once !== undefined) entry.once = once;
  return entry;
}

export function without(record: Inventory, gone: Iterable<string>): Inventory {
  const next = new Map(record);
  for (const key of gone) next.delete(key);
  return next;
}

export function sameInventory(a: Inventory, b: Inventory): boolean {
  if (a.size !== b.size) return false;
  for (const [key, entry] of a) {
    const other = b.get(key);
    if (
      other === undefined ||
      other.uid !== entry.uid ||
      other.applied !== entry.applied ||
      other.fields !== entry.fields ||
      other.once?.key !== entry.once?.key ||
      other.once?.at !== entry.once?.at
    )
      return false;
    if (other.apiVersion !== entry.apiVersion) return false;
  }
  return true;
}

function entryOf(ref: ObjectRef): InventoryEntry {
  const entry: InventoryEntry = { apiVersion: ref.apiVersion, kind: ref.kind, name: ref.name };
  if (ref.namespace !== undefined) entry.namespace = ref.namespace;
  return entry;
}
