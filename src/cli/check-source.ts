import {
  API_VERSION,
  type Extension,
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
import { NO_FILES } from '../git/tree.ts';
import { compile } from '../reconcile/compile.ts';
import { factsKeyOf, rootOf } from '../reconcile/nesting.ts';
import { keyOf } from '../reconcile/store.ts';
import { describeFault } from '../reconcile/sync-status.ts';
import type { KubernetesTarget } from '../resolve/served-apis.ts';
import { checkCatalogue } from './check-catalogue.ts';
import type { Check } from './check-model.ts';
import { checkReleases } from './check-releases.ts';
import { checkRendering, type ForRelease, forRelease, notReadable, type RenderedPlugin } from './check-render.ts';
import { pluginsIn, type RenderFlags, settings, unlessNotInstalled } from './render-source.ts';
import { withTree } from './source-tree.ts';
import { standIn } from './sync-settings.ts';

/** What is in the cluster, or in one namespace of it, measured against the release. */
export async function checkCluster(
  client: KubeClient,
  to: KubernetesTarget,
  namespace: string | undefined,
): Promise<Check> {
  const plugins = await pluginsIn(client);
  const syncs = await unlessNotInstalled(client.list({ apiVersion: API_VERSION, kind: 'Sync' }));
  const bySync = new Map((syncs?.items ?? []).map((sync) => [keyOf(sync), readAs(sync, 'Sync')]));
  const { gitVersion: from } = await client.version();
  const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const syncOf = (plugin: Plugin): Sync => {
    const root = rootOf(plugin, (key) => live.get(key)) ?? plugin;
    return bySync.get(factsKeyOf(root) ?? '') ?? standIn(plugin.metadata.namespace ?? '');
  };
  const check = await forRelease(client, to, async (means) => {
    const { extensions, instances, tags } = means.catalogue;
    const render = async (chosen: readonly Plugin[]): Promise<Map<string, RenderedPlugin>> => {
      // What moves to another version comes from the catalogue of this cluster: it is trusted like what is installed.
      const known = new Map(chosen.map((plugin) => [keyOf(plugin), plugin]));
      const groups: [string, RenderedPlugin][] = [];
      for (const [sync, group] of Map.groupBy(chosen, syncOf))
        groups.push(...(await renderGroup(means, sync, group, known)));
      return new Map(groups);
    };
    const subjects = { extensions, instances, others: [], plugins, live, tags, from, to, namespace };
    return await checkCatalogue(subjects, { syncOf, render });
  });
  const items = new Map(check.items.map((item) => [`${item.namespace}/${item.name}`, item]));
  check.items.push(...(await checkReleases({ client, to, namespace, items, plugins, notes: check.notes })));
  return check;
}

export interface CheckRepository {
  /** Undefined: without a cluster. */
  client: KubeClient | undefined;
  to: KubernetesTarget;
  /** Where the Sync is. */
  namespace: string;
  source: string;
  flags: RenderFlags;
}

/** What a repository declares for a cluster, measured against the release. */
export async function checkRepository({ client, to, namespace, source, flags }: CheckRepository): Promise<Check> {
  const sync = await settings(client, namespace, source, flags);
  return await withTree(client, sync, source, flags, (tree) =>
    forRelease(client, to, async (means) => {
      const installed = client === undefined ? [] : await pluginsIn(client);
      const live = new Map(installed.map((plugin) => [keyOf(plugin), plugin]));
      const { catalogue } = means;
      const compiled = await compile({ sync, tree, reader: createReader(), plugins: installed, catalogue });
      const objects = compiled.levels.flat().map(({ object }) => object);
      const declared = ofKind(objects, 'Extension').map((one) => [one.metadata.name, one] as const);
      const others = catalogue.extensions.map((one) => [one.metadata.name, one] as const);
      const instances = ofKind(objects, 'ExtensionInstance');
      const subjects = {
        extensions: [...new Map<string, Extension>([...others, ...declared]).values()],
        instances,
        others: catalogue.instances.filter((one) => !instances.some((own) => keyOf(own) === keyOf(one))),
        plugins: ofKind(objects, 'Plugin'),
        from: client === undefined ? undefined : (await client.version()).gitVersion,
        ...{ live, tags: catalogue.tags, to, namespace: undefined },
      };
      const render = (plugins: readonly Plugin[]) => checkRendering(means, { sync, tree, plugins, live });
      const check = await checkCatalogue(subjects, { syncOf: () => sync, render });
      return { ...check, faults: compiled.faults.map(describeFault) };
    }),
  );
}

/** The Plugins of one Sync. The files of its repository are fetched only where something is made of them. */
async function renderGroup(
  means: ForRelease,
  sync: Sync,
  plugins: readonly Plugin[],
  live: ReadonlyMap<string, Plugin>,
): Promise<Map<string, RenderedPlugin>> {
  const isInRepository = ({ spec: { source } }: Plugin) => source.git !== undefined && source.git.url === undefined;
  const inRepository = plugins.filter(isInRepository);
  const others = plugins.filter((plugin) => !isInRepository(plugin));
  const found = await checkRendering(means, { sync, tree: NO_FILES, plugins: others, live });
  if (inRepository.length === 0) return found;
  const commit = sync.status?.observed?.commit ?? sync.status?.commit;
  const { url } = sync.spec.repository;
  try {
    if (commit === undefined) throw new Error('no commit of the repository of its Sync is known');
    const more = await withTree(means.client, sync, url, { ref: commit }, (tree) =>
      checkRendering(means, { sync, tree, plugins: inRepository, live }),
    );
    return new Map([...found, ...more]);
  } catch (error) {
    return new Map([...found, ...notReadable(inRepository, error)]);
  }
}

function ofKind<K extends KindName>(objects: readonly KubeObject[], kind: K): KindTypes[K][] {
  return objects.filter((object) => isKind(object, kind)).map((object) => readAs(object, kind));
}
