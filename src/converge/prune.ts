import { describeRef, type InventoryEntry, isError, type ObjectRef, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { ownerOf } from '../plan/ownership.ts';
import { settleAll } from './limit.ts';
import { removalWaves } from './stages.ts';

const PARALLEL_DELETES = 16;

export interface RemovalProgress {
  /** Gone, or no longer ours: drop them from the record. */
  gone: string[];
  /** Asked to go and still there, with what holds them. */
  leaving: { ref: ObjectRef; finalizers: readonly string[] }[];
  failed: { ref: ObjectRef; error: unknown }[];
}

/**
 * Takes removal one wave further: asks the objects of the first wave that still has any to go, and reports. Call again
 * when one of them is gone. An object is deleted only while it is the very one on record (by uid), or, where a crash
 * left no uid on record, only while it carries the Plugin's labels.
 */
export async function removeNextWave(
  client: KubeClient,
  plugin: string,
  entries: readonly InventoryEntry[],
): Promise<RemovalProgress> {
  const progress: RemovalProgress = { gone: [], leaving: [], failed: [] };
  for (const wave of removalWaves(entries)) {
    const results = await settleAll(wave, PARALLEL_DELETES, (entry) => removeOne(client, plugin, entry));
    results.forEach((result, index) => {
      const ref = wave[index];
      if (ref === undefined) return;
      if (result.status === 'rejected') progress.failed.push({ ref, error: result.reason });
      else if (result.value === 'gone') progress.gone.push(refKey(ref));
      else progress.leaving.push({ ref, finalizers: result.value });
    });
    if (progress.leaving.length > 0 || progress.failed.length > 0) break;
  }
  return progress;
}

async function removeOne(
  client: KubeClient,
  plugin: string,
  entry: InventoryEntry,
): Promise<'gone' | readonly string[]> {
  const live = await readOrAbsent(client, entry);
  if (live === undefined) return 'gone';
  const isOurs =
    entry.uid === undefined
      ? ownerOf(live) === plugin
      : live.metadata.uid === entry.uid && (ownerOf(live) ?? plugin) === plugin;
  if (!isOurs) return 'gone';
  if (live.metadata.deletionTimestamp !== undefined) return live.metadata.finalizers ?? [];
  const { uid } = live.metadata;
  try {
    await client.delete(entry, { ...(uid === undefined ? {} : { uid }), propagation: 'Background' });
  } catch (error) {
    // Another object took the name between our read and our delete: that one is not ours.
    if (isError(error, 'KubeConflict')) return await removeOne(client, plugin, entry);
    throw error;
  }
  const after = await readOrAbsent(client, entry);
  return after === undefined || after.metadata.uid !== uid ? 'gone' : (after.metadata.finalizers ?? []);
}

async function readOrAbsent(client: KubeClient, ref: ObjectRef) {
  try {
    return await client.get(ref);
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return undefined;
    throw error;
  }
}

/** `Widget web/a (held by finalizers example.com/cleanup)`, for a status. */
export function describeLeaving(leaving: RemovalProgress['leaving'][number]): string {
  const held = leaving.finalizers.length === 0 ? '' : ` (held by finalizers ${leaving.finalizers.join(', ')})`;
  return `${describeRef(leaving.ref)}${held}`;
}
