import { LABEL, type Plugin, type Sync } from '../api/index.ts';
import { plain } from '../plan/plain.ts';
import { parentKeyOf, parentsOf, syncKeyOf } from '../reconcile/nesting.ts';
import { buildGraph, pluginKey } from '../resolve/graph.ts';
import { isSync, type Ours, shortCommit, whyOf } from './standing.ts';
import type { TreeNode, TreeState } from './tree-node.ts';

/** A Plugin with those that are nested in it. */
export interface Twig {
  plugin: Plugin;
  nested: Twig[];
}

/** A Sync with the Plugins that it wrote, or a Plugin that no Sync or Plugin of the list wrote. */
export type Branch = { sync: Sync; plugins: Twig[] } | Twig;

/**
 * Syncs first, then Plugins that stand for themselves; Plugins after those that they depend on. `all` has also those that
 * may be nested in them.
 */
export function branchesOf(syncs: readonly Sync[], plugins: readonly Plugin[], all = plugins): Branch[] {
  const children = Map.groupBy(inDependencyOrder(all), (plugin) => parentKeyOf(plugin) ?? '');
  const grow = (plugin: Plugin, above: readonly string[] = []): Twig => {
    const way = [...above, keyOf(plugin)];
    const below = (children.get(keyOf(plugin)) ?? []).filter((child) => !way.includes(keyOf(child)));
    return { plugin, nested: below.map((child) => grow(child, way)) };
  };
  const ordered = inDependencyOrder(plugins);
  const known = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const isNested = (plugin: Plugin) =>
    known.has(parentKeyOf(plugin) ?? '') && parentsOf(plugin, (key) => known.get(key)).state !== 'refused';
  const owned = new Set(ordered.filter(isNested));
  const withSync = syncs.map((sync) => {
    const own = ordered.filter((plugin) => isWrittenBy(plugin, sync));
    for (const plugin of own) owned.add(plugin);
    return { sync, plugins: own.map((plugin) => grow(plugin)) };
  });
  return [...withSync, ...ordered.filter((plugin) => !owned.has(plugin)).map((plugin) => grow(plugin))];
}

export function isWrittenBy(plugin: Plugin, { metadata }: Sync): boolean {
  return syncKeyOf(plugin) === `${metadata.namespace ?? ''}/${metadata.name}`;
}

function inDependencyOrder(plugins: readonly Plugin[]): Plugin[] {
  const byKey = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const nodes = plugins.map((plugin) => ({
    namespace: plugin.metadata.namespace ?? '',
    name: plugin.metadata.name,
    dependsOn: plugin.spec.dependsOn ?? [],
  }));
  return buildGraph(nodes).order.flatMap((key) => byKey.get(key) ?? []);
}

function keyOf({ metadata: { namespace = '', name } }: Plugin): string {
  return pluginKey({ namespace, name });
}

/** The node of a Sync or Plugin, without what hangs on it. */
export function nodeOf(object: Ours): TreeNode {
  const { apiVersion, kind, metadata } = object;
  const revision = isSync(object) ? shortCommit(object.status?.commit) : plain(object.status?.revision?.version ?? '');
  const given = metadata.labels?.[LABEL.class];
  const waitingFor = isSync(object) ? undefined : object.status?.waitingFor;
  return {
    apiVersion,
    kind,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    name: metadata.name,
    state: stateOf(object),
    message: messageOf(object),
    ...(revision === '' ? {} : { revision }),
    ...(given === undefined ? {} : { class: plain(given) }),
    ...(waitingFor === undefined ? {} : { waitingFor: waitingFor.map(plain) }),
    children: [],
  };
}

function messageOf(object: Ours): string {
  const drifted = isSync(object) ? 0 : (object.status?.drift ?? []).length;
  const drift = drifted === 0 ? [] : [`${drifted} ${drifted === 1 ? 'object' : 'objects'} drifted`];
  return [whyOf(object), ...drift].filter((part) => part !== '').join('; ');
}

function stateOf({ metadata, spec, status }: Ours): TreeState {
  if (metadata.deletionTimestamp !== undefined) return 'terminating';
  if (spec.suspend === true) return 'suspended';
  switch (status?.phase) {
    case 'Ready':
      return 'healthy';
    case 'Progressing':
    case 'Pending':
      return 'progressing';
    case 'Waiting':
      return 'waiting';
    case 'Failed':
      return 'failed';
    case 'Held':
      return 'held';
    case 'Suspended':
      // It was resumed, and the agent has not seen that yet.
      return 'progressing';
    case 'Removing':
      return 'terminating';
    case undefined:
      return 'unknown';
  }
}
