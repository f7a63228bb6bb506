import { type InventoryEntry, type KubeObject, LABEL } from '../api/index.ts';
import type { Terminating } from './object-plan.ts';

/** Whose a live object is. `nobody`: it carries nobody's labels, and our record does not hold it. */
export type Ownership = { whose: 'ours' } | { whose: 'other'; owner: string } | { whose: 'nobody' };

/** `namespace/name` of the Plugin that an object's labels name. */
export function ownerOf(object: KubeObject): string | undefined {
  const { labels } = object.metadata;
  const [name, namespace] = [labels?.[LABEL.plugin], labels?.[LABEL.pluginNamespace]];
  return name === undefined || namespace === undefined ? undefined : `${namespace}/${name}`;
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
