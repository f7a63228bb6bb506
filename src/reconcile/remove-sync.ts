import { CONTROLLER_MANAGER, FINALIZER, LABEL, type Plugin, refOf, type Sync } from '../api/index.ts';
import { someOf } from '../report/line.ts';
import { dropFinalizer } from './finalizer.ts';
import { handOver } from './prune-revision.ts';
import { keyOf } from './store.ts';
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
  if (sync.spec.prune.enabled && plugins.length > 0) {
    parts.declared.setRevision(key, [], true);
    await tell(parts, sync, plugins);
    for (const plugin of plugins) {
      if (plugin.metadata.deletionTimestamp !== undefined || handOver(parts, key, keyOf(plugin))) continue;
      await parts.client.delete(refOf(plugin), plugin.metadata.uid === undefined ? {} : { uid: plugin.metadata.uid });
    }
    for (const plugin of plugins) parts.wakePlugin(keyOf(plugin));
    return undefined;
  }
  for (const plugin of plugins) {
    const body = { metadata: { labels: { [LABEL.sync]: null, [LABEL.syncNamespace]: null } } };
    parts.plugins.put(
      await parts.client.patch(refOf(plugin), body, { type: 'merge', fieldManager: CONTROLLER_MANAGER }),
    );
  }
  await dropFinalizer(parts, sync);
  parts.declared.forgetSync(key);
  parts.memories.forget(key);
  return undefined;
}

async function tell(parts: SyncParts, sync: Sync, plugins: readonly Plugin[]): Promise<void> {
  const message = `removing ${someOf(plugins.map((plugin) => plugin.metadata.name))}`;
  await parts.statuses.change(keyOf(sync), ({ status }) => ({ ...status, phase: 'Removing', message }));
}
