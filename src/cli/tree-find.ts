import { isError } from '../api/errors.ts';
import type { Plugin, Sync } from '../api/index.ts';
import { API_VERSION } from '../api/names.ts';
import type { Cluster } from './cluster.ts';
import { notFound } from './find.ts';
import type { ScopeOptions } from './options.ts';
import { say } from './print.ts';
import { asOurs, isSync, type Ours } from './standing.ts';
import { parseTargets } from './target.ts';
import { type Branch, branchesOf, isWrittenBy } from './tree-model.ts';

const SYNCS = { apiVersion: API_VERSION, kind: 'Sync' };
const PLUGINS = { apiVersion: API_VERSION, kind: 'Plugin' };

/** What the tree is about: all in scope, or what a person named. */
export async function findBranches(
  cluster: Cluster,
  words: readonly string[],
  options: ScopeOptions,
): Promise<Branch[]> {
  const [syncs, plugins] = await Promise.all([listSyncs(cluster, options), listPlugins(cluster)]);
  const inScope = plugins.filter(
    ({ metadata }) => options.allNamespaces === true || metadata.namespace === cluster.namespace,
  );
  if (words.length === 0) {
    return branchesOf(syncs, plugins).filter((branch) => 'sync' in branch || inScope.includes(branch.plugin));
  }
  const named: Ours[] = [];
  for (const target of parseTargets(words)) {
    const found = [...syncs, ...inScope].filter(
      ({ kind, metadata }) => metadata.name === target.name && (target.kind ?? kind) === kind,
    );
    if (found.length === 0) throw await notFound(cluster, target);
    named.push(...found);
  }
  const namedSyncs = named.filter(isSync);
  const written = plugins.filter((plugin) => namedSyncs.some((sync) => isWrittenBy(plugin, sync)));
  const namedPlugins = named.filter((object) => !isSync(object));
  return [...branchesOf(namedSyncs, written, plugins), ...branchesOf([], namedPlugins, plugins)];
}

async function listSyncs({ client, namespace }: Cluster, { allNamespaces }: ScopeOptions): Promise<Sync[]> {
  const { items } = await client.list({ ...SYNCS, ...(allNamespaces ? {} : { namespace }) });
  return items.map(asOurs).filter(isSync);
}

/** A Sync's Plugins may live in any namespace, so they are looked for in all, as far as a person's rights go. */
async function listPlugins({ client, namespace }: Cluster): Promise<Plugin[]> {
  const { items } = await client.list(PLUGINS).catch((error: unknown) => {
    if (!isError(error, 'KubeForbidden')) throw error;
    say(`you may list Plugins in namespace "${namespace}" only; others are not shown`);
    return client.list({ ...PLUGINS, namespace });
  });
  return items.map(asOurs).filter((object) => !isSync(object));
}
