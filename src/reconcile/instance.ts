import {
  ANNOTATION,
  type Extension,
  type ExtensionInstance,
  FINALIZER,
  isError,
  type KubeObject,
  LABEL,
  messageOf,
  type Plugin,
  refOf,
  SYNC_MANAGER,
} from '../api/index.ts';
import { contentKey } from '../resolve/key.ts';
import { instancesByExtension, resolveIn } from './catalogue-facts.ts';
import { dropFinalizer, ensureFinalizer } from './finalizer.ts';
import { type InstanceFindings, saveInstance } from './instance-status.ts';
import { parentKeyOf, syncOver } from './nesting.ts';
import type { SyncParts } from './sync-parts.ts';

/**
 * One look at one ExtensionInstance. The Plugin of one that a repository declares is written by its Sync, like all that
 * it declares; one that a person made gets its Plugin here, by the same rules. What is installed is never touched for
 * want of an answer.
 */
export async function reconcileInstance(
  parts: SyncParts,
  key: string,
): Promise<{ requeueAfterMs: number } | undefined> {
  const instance = parts.instances.get(key);
  if (instance === undefined) return undefined;
  const isByHand = instance.metadata.labels?.[LABEL.sync] === undefined;
  if (instance.metadata.deletionTimestamp !== undefined) {
    if (isByHand) await uninstall(parts, key, instance);
    else await dropFinalizer(parts, instance);
    return undefined;
  }
  const facts = parts.catalogue();
  const extensions = new Map(facts.extensions.map((one) => [one.metadata.name, one]));
  const catalogue = { extensions, instances: instancesByExtension(facts.instances) };
  const resolved = await resolveIn(catalogue, instance, parts.plugins.get(key), facts);
  if (isByHand) await ensureFinalizer(parts, instance);
  const findings: InstanceFindings = { resolved };
  let failure: unknown;
  if (isByHand && resolved.state === 'made') {
    try {
      const refused = await writePlugin(parts, key, instance, resolved.plugin as KubeObject);
      if (refused !== undefined) findings.refused = refused;
    } catch (error) {
      if (!isError(error, 'KubeInvalid', 'KubeForbidden')) failure = error;
      findings.refused = messageOf(error);
    }
  }
  await saveInstance(parts, key, findings);
  if (failure !== undefined) throw failure;
  const { until } = resolved;
  return until === undefined ? undefined : { requeueAfterMs: Math.max(0, until - facts.now) };
}

/** Makes the Plugin of an instance that a person made be as resolved; or says why it may not. */
async function writePlugin(
  parts: SyncParts,
  key: string,
  instance: ExtensionInstance,
  declared: KubeObject,
): Promise<string | undefined> {
  const live = parts.plugins.get(key);
  if (live !== undefined && !isOf(instance, live))
    return `there is a Plugin ${key} already, which is not of this instance: give the instance another name`;
  if (live?.metadata.deletionTimestamp !== undefined)
    return `the Plugin ${key} of an earlier instance is being removed`;
  const extension = parts.extensions.get(`/${instance.spec.extension}`);
  const renderer = extension === undefined ? undefined : parentKeyOf(extension);
  // Without it nobody can tell whose rights this has.
  if (renderer !== undefined && parts.plugins.get(renderer) === undefined)
    return `Plugin ${renderer}, which its extension comes from, is not there`;
  const sync = syncBehind(parts, extension);
  const outside = sync === undefined ? undefined : namespaceOutside(parts, sync, declared);
  if (outside !== undefined)
    return `the namespace "${outside}" is not among spec.allowedNamespaces of Sync ${sync}, which the extension comes from`;
  const object = withCommit(parts, sync, live, declared);
  const inputs = contentKey({ object, sync });
  const isSame = live?.metadata.annotations?.[ANNOTATION.inputs] === inputs;
  if (isSame && parts.made.get(key) === parts.plugins.fields(key)) return undefined;
  const { metadata } = object;
  const annotations = {
    ...metadata.annotations,
    [ANNOTATION.inputs]: inputs,
    ...(sync === undefined ? {} : { [ANNOTATION.factsOf]: sync }),
  };
  const wanted = { ...object, metadata: { ...metadata, annotations, finalizers: [FINALIZER] } };
  parts.plugins.put(await parts.client.apply(wanted, { fieldManager: SYNC_MANAGER, force: true }));
  parts.made.set(key, parts.plugins.fields(key));
  return undefined;
}

/** The Sync that an Extension comes from, itself or by the Plugin that renders it. */
function syncBehind({ plugins }: SyncParts, extension: Extension | undefined): string | undefined {
  if (extension === undefined) return undefined;
  const get = (key: string) => plugins.get(key);
  const renderer = get(parentKeyOf(extension) ?? '');
  if (renderer !== undefined) return syncOver(renderer, get);
  const { [LABEL.sync]: name, [LABEL.syncNamespace]: namespace } = extension.metadata.labels ?? {};
  return name === undefined ? undefined : `${namespace}/${name}`;
}

/** Says for a folder of the Sync's repository at which commit it is to be read. */
function withCommit(
  parts: SyncParts,
  sync: string | undefined,
  live: Plugin | undefined,
  declared: KubeObject,
): KubeObject {
  const { source } = (declared as unknown as Plugin).spec;
  const { git } = source;
  const head = sync === undefined ? undefined : (parts.declared.headOf(sync) ?? parts.syncs.get(sync)?.status?.commit);
  if (git === undefined || git.url !== undefined || head === undefined) return declared;
  const before = live?.spec.source.git;
  const commit = before?.tree === git.tree && before?.commit !== undefined ? before.commit : head;
  return { ...declared, spec: { ...(declared.spec as object), source: { ...source, git: { ...git, commit } } } };
}

function namespaceOutside(parts: SyncParts, sync: string, plugin: KubeObject): string | undefined {
  const found = parts.syncs.get(sync);
  const allowed = found?.spec.allowedNamespaces;
  const target = (plugin as unknown as Plugin).spec.namespace?.name;
  return [plugin.metadata.namespace, target].find(
    (one) => allowed !== undefined && one !== undefined && one !== found?.metadata.namespace && !allowed.includes(one),
  );
}

/** The instance goes when its Plugin is gone, which goes when nobody needs it any more. */
async function uninstall(parts: SyncParts, key: string, instance: ExtensionInstance): Promise<void> {
  const plugin = parts.plugins.get(key);
  const isSystem = parts.extensions.get(`/${instance.spec.extension}`)?.spec.class === 'system';
  if (plugin === undefined || !isOf(instance, plugin)) {
    parts.made.delete(key);
    await dropFinalizer(parts, instance);
    return;
  }
  if (isSystem) {
    const refused = `${instance.spec.extension} is a system extension, and stays: give it another class, and this goes on`;
    await saveInstance(parts, key, { refused });
    return;
  }
  if (plugin.metadata.deletionTimestamp === undefined)
    await parts.client.delete(refOf(plugin), plugin.metadata.uid === undefined ? {} : { uid: plugin.metadata.uid });
  const why =
    plugin.status?.phase === 'Held' || plugin.status?.phase === 'Removing' ? plugin.status.message : undefined;
  await saveInstance(parts, key, { removing: why ?? `removing Plugin ${key}` });
}

/** Written for this very instance, by no Sync. */
function isOf({ metadata }: ExtensionInstance, plugin: Plugin): boolean {
  const labels = plugin.metadata.labels ?? {};
  return labels[LABEL.instance] === metadata.name && labels[LABEL.sync] === undefined;
}
