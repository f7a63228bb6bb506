import { describeRef, type InventoryEntry, isError, type KubeObject, type ObjectRef, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { ownerOf } from '../plan/ownership.ts';
import { settleAll } from './limit.ts';
import { removalWaves } from './stages.ts';

const PARALLEL_DELETES = 16;
/** Objects whose status changes all the time are caught in between soon enough. */
const MOST_TRIES = 5;

export interface RemovalProgress {
  /** Gone, or no longer ours: drop them from the record. */
  gone: string[];
  /** Asked to go and still there, with what holds them. */
  leaving: { ref: ObjectRef; finalizers: readonly string[] }[];
  /** Not asked yet, and why. */
  waiting: { ref: ObjectRef; why: string }[];
  failed: { ref: ObjectRef; error: unknown }[];
}

/** Asked right before an object is deleted: why it must wait, if so. */
export type Gate = (entry: InventoryEntry) => Promise<string | undefined>;

/**
 * Takes removal one wave further: asks the objects of the first wave that still has any to go, and reports. Call again
 * when one of them is gone. An object is deleted only while it is the very one on record (by uid), or, where a crash
 * left no uid on record, only while it carries the Plugin's labels; and only as it was read: one that another Plugin
 * takes over at this moment is left to it.
 */
export async function removeNextWave(
  client: KubeClient,
  plugin: string,
  entries: readonly InventoryEntry[],
  gate: Gate,
): Promise<RemovalProgress> {
  const progress: RemovalProgress = { gone: [], leaving: [], waiting: [], failed: [] };
  for (const wave of removalWaves(entries)) {
    const results = await settleAll(wave, PARALLEL_DELETES, (entry) => removeOne(client, plugin, entry, gate));
    results.forEach((result, index) => {
      const ref = wave[index];
      if (ref === undefined) return;
      if (result.status === 'rejected') progress.failed.push({ ref, error: result.reason });
      else if (result.value === 'gone') progress.gone.push(refKey(ref));
      else if ('why' in result.value) progress.waiting.push({ ref, why: result.value.why });
      else progress.leaving.push({ ref, finalizers: result.value.finalizers });
    });
    if (results.some((result) => result.status === 'rejected' || result.value !== 'gone')) break;
  }
  return progress;
}

async function removeOne(
  client: KubeClient,
  plugin: string,
  entry: InventoryEntry,
  gate: Gate,
): Promise<'gone' | { finalizers: readonly string[] } | { why: string }> {
  for (let tries = 1; ; tries++) {
    const live = await readOrAbsent(client, entry);
    if (live === undefined || !isOurs(plugin, entry, live)) return 'gone';
    if (live.metadata.deletionTimestamp !== undefined) return { finalizers: live.metadata.finalizers ?? [] };
    const why = await gate(entry);
    if (why !== undefined) return { why };
    const { uid, resourceVersion } = live.metadata;
    const just = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    };
    try {
      await client.delete(entry, { ...just, propagation: 'Background' });
    } catch (error) {
      // Changed since it was read: most likely by its own controller, but it may have been taken over or replaced.
      if (!isError(error, 'KubeConflict') || tries === MOST_TRIES) throw error;
      continue;
    }
    const after = await readOrAbsent(client, entry);
    return after === undefined || after.metadata.uid !== uid ? 'gone' : { finalizers: after.metadata.finalizers ?? [] };
  }
}

function isOurs(plugin: string, entry: InventoryEntry, live: KubeObject): boolean {
  if (entry.uid === undefined) return ownerOf(live) === plugin;
  return live.metadata.uid === entry.uid && (ownerOf(live) ?? plugin) === plugin;
}

async function readOrAbsent(client: KubeClient, ref: ObjectRef) {
  try {
    return await client.get(ref);
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return undefined;
    throw error;
  }
}

/** `Widget web/a (held by finalizers example.com/cleanup)`: what is still there and why, for a status. */
export function describeProgress({ leaving, waiting }: RemovalProgress): string[] {
  return [
    ...leaving.map(({ ref, finalizers }) =>
      finalizers.length === 0 ? describeRef(ref) : `${describeRef(ref)} (held by finalizers ${finalizers.join(', ')})`,
    ),
    ...waiting.map(({ ref, why }) => `${describeRef(ref)} (${why})`),
  ];
}
