import { GROUP, groupOf, type InventoryEntry, type KubeObject, LABEL } from '../api/index.ts';
import type { Terminating } from './object-plan.ts';

/** Whose a live object is. `nobody`: it carries nobody's labels, and our record does not hold it. */
export type Ownership = { whose: 'ours' } | { whose: 'other'; owner: string } | { whose: 'nobody' };

/** Stands before the key of a Sync where an owner may be either: no namespace has a blank in it. */
export const SYNC_OWNER = 'Sync ';

/** `namespace/name` of the Plugin that an object's labels name; of what a Sync wrote, `Sync namespace/name`. */
export function ownerOf(object: KubeObject): string | undefined {
  const { labels } = object.metadata;
  const named = (name?: string, namespace?: string) =>
    name === undefined || namespace === undefined ? undefined : `${namespace}/${name}`;
  const plugin = named(labels?.[LABEL.plugin], labels?.[LABEL.pluginNamespace]);
  if (plugin !== undefined || groupOf(object.apiVersion) !== GROUP) return plugin;
  const sync = named(labels?.[LABEL.sync], labels?.[LABEL.syncNamespace]);
  return sync === undefined ? undefined : `${SYNC_OWNER}${sync}`;
}

/** An owner (`ownerOf`) for people. */
export function describeOwner(owner: string): string {
  return owner.startsWith(SYNC_OWNER) ? owner : `plugin ${owner}`;
}

/**
 * Labels tell first: the API server wrote them together with the object. Where somebody took them off, the record
 * tells, by UID: an object of the same name that was created since is somebody else's.
 */
export function ownershipOf(live: KubeObject, entry: InventoryEntry | undefined, self: string): Ownership {
  const owner = ownerOf(live);
  if (owner !== undefined && owner !== self) return { whose: 'other', owner };
  const isRecorded = entry?.uid !== undefined && entry.uid === live.metadata.uid;
  return owner === self || isRecorded ? { whose: 'ours' } : { whose: 'nobody' };
}

export function terminatingOf(live: KubeObject): Terminating | undefined {
  const { deletionTimestamp, uid, finalizers } = live.metadata;
  return deletionTimestamp === undefined
    ? undefined
    : { uid: uid ?? '', since: deletionTimestamp, finalizers: finalizers ?? [] };
}
