import {
  API_VERSION,
  isError,
  type KubeObject,
  type Plugin,
  readAs,
  refOf,
  SYNC_MANAGER,
  type Sync,
} from '../../api/index.ts';
import { translateKubegems } from '../../compat/kubegems.ts';
import type { KubegemsStatus } from '../../compat/kubegems-kind.ts';
import { failedStatus, kubegemsStatus } from '../../compat/kubegems-status.ts';
import { dropFinalizer, ensureFinalizer } from '../finalizer.ts';
import { keyOf } from '../store.ts';
import type { SyncParts } from '../sync-parts.ts';
import { writeStatus } from '../write-status.ts';
import { mayUse, syncFor } from './coverage.ts';
import { WHETHER } from './objects.ts';
import { isOfKubegems, saysAll, wantedPlugin } from './wanted.ts';
import { decideWhether } from './whether.ts';

/** KubeGems' own: it must not run beside, so nobody else would take it away. */
const KUBEGEMS_FINALIZER = 'plugins.kubegems.io/finalizer';

/** One look at one KubeGems object: its Plugin as it says, its status as the Plugin's. */
export async function reconcileKubegems(
  parts: SyncParts,
  key: string,
): Promise<{ requeueAfterMs?: number } | undefined> {
  if (key === WHETHER) return await decideWhether(parts);
  const object = parts.kubegems.get(key);
  if (object === undefined) return undefined;
  const sync = syncFor(parts.syncs.values(), object.metadata.namespace ?? '');
  if (sync === undefined) await dropFinalizer(ownFinalizers(parts), object);
  else if (object.metadata.deletionTimestamp !== undefined) await uninstall(parts, key, object);
  else await install(parts, key, object, sync);
  return undefined;
}

async function install(parts: SyncParts, key: string, object: KubeObject, sync: Sync): Promise<void> {
  const answer = translateKubegems(object, { inRepository: false });
  if ('faults' in answer) return await fail(parts, object, answer.faults.map(({ message }) => message).join('; '));
  const namespace = answer.plugin.spec.namespace?.name;
  if (namespace !== undefined && !mayUse(sync, namespace)) {
    const message = `spec.installNamespace is "${namespace}", which is not among spec.allowedNamespaces of Sync ${keyOf(sync)}`;
    return await fail(parts, object, message);
  }
  // Somebody's own is not taken over because it is too new to be known.
  const live = parts.plugins.get(key) ?? (await unseen(parts, object));
  if (live !== undefined && !isOfKubegems(live)) {
    const message = `Plugin ${key} of ${API_VERSION} exists already and was not made from this object: rename one of the two`;
    return await fail(parts, object, message);
  }
  const wanted = wantedPlugin(answer.plugin, sync);
  await ensureFinalizer(ownFinalizers(parts), object);
  if (live?.metadata.deletionTimestamp !== undefined || (live !== undefined && saysAll(live, wanted)))
    return await tell(parts, object, statusFrom(live, object));
  const written = await parts.client.apply(wanted, { fieldManager: SYNC_MANAGER, force: true });
  parts.plugins.put(written);
  await tell(parts, object, statusFrom(readAs(written, 'Plugin'), object));
}

/** The object stays until its Plugin is gone: then everything is uninstalled. */
async function uninstall(parts: SyncParts, key: string, object: KubeObject): Promise<void> {
  const plugin = parts.plugins.get(key) ?? (await unseen(parts, object));
  if (plugin === undefined || !isOfKubegems(plugin))
    return await dropFinalizer(ownFinalizers(parts), object, [KUBEGEMS_FINALIZER]);
  const { uid, deletionTimestamp } = plugin.metadata;
  if (deletionTimestamp === undefined) await parts.client.delete(refOf(plugin), uid === undefined ? {} : { uid });
  const status = statusFrom(plugin, object);
  await tell(parts, object, { ...status, phase: 'Removing' });
}

/** A Plugin that was made a moment ago, or just before this agent began, may not be in memory. */
async function unseen({ client }: SyncParts, { metadata }: KubeObject): Promise<Plugin | undefined> {
  const { name, namespace = '' } = metadata;
  const found = await client.get({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name });
  return found === undefined ? undefined : readAs(found, 'Plugin');
}

/** What is installed stays as it is. */
async function fail(parts: SyncParts, object: KubeObject, message: string): Promise<void> {
  await tell(parts, object, failedStatus(message, statusOf(object), object.metadata.generation));
}

async function tell(parts: SyncParts, object: KubeObject, after: KubegemsStatus): Promise<void> {
  const { uid } = object.metadata;
  if (uid === undefined || parts.kubegems.hasTold(object, after)) return;
  try {
    const written = await writeStatus(parts.client, { ...refOf(object), uid }, statusOf(object), after);
    if (written !== undefined) parts.kubegems.told(written, after);
  } catch (error) {
    // Deleted or replaced meanwhile: the watch brings the news.
    if (!isError(error, 'KubeNotFound')) throw error;
  }
}

function statusFrom(plugin: Plugin, object: KubeObject): KubegemsStatus {
  return kubegemsStatus(plugin, statusOf(object), object.metadata.generation);
}

function statusOf({ status }: KubeObject): KubegemsStatus | undefined {
  return status as KubegemsStatus | undefined;
}

/** The stores hold kinds of ours. */
function ownFinalizers({ client }: SyncParts): Parameters<typeof ensureFinalizer>[0] {
  return { client, storeFor: () => undefined };
}
