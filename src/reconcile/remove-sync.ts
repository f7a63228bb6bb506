import { CONTROLLER_MANAGER, FINALIZER, LABEL, type Plugin, refOf, type Sync } from '../api/index.ts';
import { someOf } from '../report/line.ts';
import { dropFinalizer } from './finalizer.ts';
import { syncKeyOf } from './nesting.ts';
import { handOver } from './prune-revision.ts';
import { keyOf, type Stored } from './store.ts';
import type { SyncParts } from './sync-parts.ts';
import { pluginsOf } from './sync-plugins.ts';

/**
 * A Sync is on its way out. With pruning on, what it declared goes with it; with pruning off, its Plugins stay, and
 * stand for themselves from now on.
 */
export async function removeSync(parts: SyncParts, key: string, sync: Sync): Promise<undefined> {
  parts.schedules.stop(key);
  if (!(sync.metadata.finalizers ?? []).includes(FINALIZER)) return undefined;
  const plugins = [...pluginsOf(parts, key)];
  // Instances first: nobody shall make a Plugin again for one that is on its way out.
  await letGo(parts, sync, [...parts.instances.values(), ...parts.extensions.values()]);
  if (sync.spec.prune.enabled && plugins.length > 0) {
    parts.declared.setRevision(key, [], true);
    await tell(parts, sync, plugins);
    for (const plugin of plugins) {
      // What is nested goes with what it is nested in, in the order of that.
      if (syncKeyOf(plugin) !== key) continue;
      if (plugin.metadata.deletionTimestamp !== undefined || handOver(parts, key, keyOf(plugin))) continue;
      await parts.client.delete(refOf(plugin), plugin.metadata.uid === undefined ? {} : { uid: plugin.metadata.uid });
    }
    for (const plugin of plugins) parts.wakePlugin(keyOf(plugin));
    return undefined;
  }
  for (const plugin of plugins) if (syncKeyOf(plugin) === key) await standAlone(parts, plugin);
  await dropFinalizer(parts, sync);
  parts.declared.forgetSync(key);
  parts.memories.forget(key);
  return undefined;
}

/** What is left of a Sync beside its Plugins: gone with it, or from now on somebody's own. */
async function letGo(parts: SyncParts, sync: Sync, objects: readonly Stored[]): Promise<void> {
  for (const object of objects) {
    const { labels = {}, deletionTimestamp, uid } = object.metadata;
    if (labels[LABEL.sync] !== sync.metadata.name || labels[LABEL.syncNamespace] !== sync.metadata.namespace) continue;
    if (!sync.spec.prune.enabled) await standAlone(parts, object);
    else if (deletionTimestamp === undefined)
      await parts.client.delete(refOf(object), uid === undefined ? {} : { uid });
  }
}

async function standAlone(parts: SyncParts, object: Stored): Promise<void> {
  const body = { metadata: { labels: { [LABEL.sync]: null, [LABEL.syncNamespace]: null } } };
  const written = await parts.client.patch(refOf(object), body, { type: 'merge', fieldManager: CONTROLLER_MANAGER });
  parts.storeFor(object.kind)?.put(written);
}

async function tell(parts: SyncParts, sync: Sync, plugins: readonly Plugin[]): Promise<void> {
  const message = `removing ${someOf(plugins.map((plugin) => plugin.metadata.name))}`;
  await parts.statuses.change(keyOf(sync), ({ status }) => ({ ...status, phase: 'Removing', message }));
}
