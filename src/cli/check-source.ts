import {
  API_VERSION,
  type Extension,
  isError,
  isKind,
  type KindName,
  type KindTypes,
  type KubeObject,
  type Plugin,
  readAs,
  type Sync,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { createReader } from '../declare/reader.ts';
import type { FileTree } from '../git/tree.ts';
import { compile } from '../reconcile/compile.ts';
import { syncKeyOf } from '../reconcile/facts.ts';
import { keyOf } from '../reconcile/store.ts';
import { describeFault } from '../reconcile/sync-status.ts';
import type { KubernetesTarget } from '../resolve/served-apis.ts';
import { type AskTags, checkCatalogue, type Subjects } from './check-catalogue.ts';
import type { Check } from './check-model.ts';
import { checkReleases } from './check-releases.ts';
import { checkRendering, notReadable, type RenderedPlugin } from './check-render.ts';
import { pluginsIn, type RenderFlags, settings, unlessNotInstalled } from './render-source.ts';
import { withTree } from './source-tree.ts';
import { standIn } from './sync-settings.ts';

export interface CheckSource {
  to: KubernetesTarget;
  /** Undefined: every namespace. */
  namespace: string | undefined;
}

/** What is in the cluster, measured against the release. */
export async function checkCluster(client: KubeClient, { to, namespace }: CheckSource): Promise<Check> {
  const list = async <K extends KindName>(kind: K) => await listAll(client, kind, namespace);
  const [plugins, syncs] = await Promise.all([list('Plugin'), list('Sync')]);
  const [instances, extensions] = await Promise.all([list('ExtensionInstance'), list('Extension')]);
  const { gitVersion: from } = await client.version();
  const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const tags: AskTags = async (_namespace, { url }) => ({ unknown: `${url} was not asked` });
  const subjects: Subjects = { ...{ extensions, instances, plugins, live, from, to }, namespace, tags };
  const bySync = new Map(syncs.map((sync) => [keyOf(sync), sync]));
  const syncOf = (plugin: Plugin): Sync =>
    bySync.get(syncKeyOf(plugin) ?? '') ?? standIn(plugin.metadata.namespace ?? '');
  const render = async (chosen: readonly Plugin[]): Promise<Map<string, RenderedPlugin>> => {
    // What moves to another version comes from the catalogue of this cluster: it is trusted like what is installed.
    const known = new Map(chosen.map((plugin) => [keyOf(plugin), plugin]));
    const found = new Map<string, RenderedPlugin>();
    for (const [sync, group] of Map.groupBy(chosen, syncOf)) {
      const some = await renderGroup({ client, to }, sync, group, known);
      for (const [key, one] of some) found.set(key, one);
    }
    return found;
  };
  const check = await checkCatalogue(subjects, { syncOf, render });
  const items = new Map(check.items.map((item) => [`${item.namespace}/${item.name}`, item]));
  check.items.push(...(await checkReleases({ client, to, namespace, items, plugins, notes: check.notes })));
  return check;
}

export interface CheckRepository extends CheckSource {
  /** Undefined: without a cluster. */
  client: KubeClient | undefined;
  /** Where the Sync is. */
  namespace: string;
  source: string;
  flags: RenderFlags;
}

/** What a repository declares for a cluster, measured against the release. */
export async function checkRepository({ client, to, namespace, source, flags }: CheckRepository): Promise<Check> {
  const sync = await settings(client, namespace, source, flags);
  return await withTree(client, sync, source, flags, async (tree) => {
    const installed = client === undefined ? [] : await pluginsIn(client);
    const live = new Map(installed.map((plugin) => [keyOf(plugin), plugin]));
    const compiled = await compile({ sync, tree, reader: createReader(), plugins: installed });
    const objects = compiled.levels.flat().map(({ object }) => object);
    const extensions = new Map<string, Extension>();
    for (const one of client === undefined ? [] : await listAll(client, 'Extension', undefined))
      extensions.set(one.metadata.name, one);
    for (const one of ofKind(objects, 'Extension')) extensions.set(one.metadata.name, one);
    const subjects: Subjects = {
      extensions: [...extensions.values()],
      instances: ofKind(objects, 'ExtensionInstance'),
      plugins: ofKind(objects, 'Plugin'),
      live,
      from: client === undefined ? undefined : (await client.version()).gitVersion,
      to,
      namespace: undefined,
      tags: async (_namespace, { url }) => ({ unknown: `${url} was not asked` }),
    };
    const check = await checkCatalogue(subjects, {
      syncOf: () => sync,
      render: async (plugins) => await checkRendering({ client, to }, { sync, tree, plugins, live }),
    });
    return { ...check, faults: compiled.faults.map(describeFault) };
  });
}

/** The Plugins of one Sync. The files of its repository are fetched only where something is made of them. */
async function renderGroup(
  rendering: { client: KubeClient; to: KubernetesTarget },
  sync: Sync,
  plugins: readonly Plugin[],
  live: ReadonlyMap<string, Plugin>,
): Promise<Map<string, RenderedPlugin>> {
  const inRepository = plugins.filter(
    ({ spec: { source } }) => source.git !== undefined && source.git.url === undefined,
  );
  const others = plugins.filter((plugin) => !inRepository.includes(plugin));
  const found = await checkRendering(rendering, { sync, tree: NO_FILES, plugins: others, live });
  const commit = sync.status?.observed?.commit ?? sync.status?.commit;
  if (inRepository.length === 0) return found;
  try {
    if (commit === undefined) throw new Error('no commit of its repository is known');
    const { url } = sync.spec.repository;
    const more = await withTree(rendering.client, sync, url, { ref: commit }, (tree) =>
      checkRendering(rendering, { sync, tree, plugins: inRepository, live }),
    );
    return new Map([...found, ...more]);
  } catch (error) {
    return new Map([...found, ...notReadable(inRepository, error)]);
  }
}

const NO_FILES: FileTree = {
  commit: 'none',
  read: async () => undefined,
  list: async () => [],
  async *walk() {},
  id: async () => undefined,
};

/** Of all namespaces, or of one where a person may not look further. Where the kind is not installed there are none. */
async function listAll<K extends KindName>(
  client: KubeClient,
  kind: K,
  namespace: string | undefined,
): Promise<KindTypes[K][]> {
  const target = { apiVersion: API_VERSION, kind };
  const list = async () => {
    try {
      return await client.list(target);
    } catch (error) {
      if (namespace === undefined || !isError(error, 'KubeForbidden')) throw error;
      return await client.list({ ...target, namespace });
    }
  };
  return ((await unlessNotInstalled(list()))?.items ?? []).map((item) => readAs(item, kind));
}

function ofKind<K extends KindName>(objects: readonly KubeObject[], kind: K): KindTypes[K][] {
  return objects.filter((object) => isKind(object, kind)).map((object) => readAs(object, kind));
}
