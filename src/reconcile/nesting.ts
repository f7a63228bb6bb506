import { ANNOTATION, API_VERSION, LABEL, type ObjectMeta, type Plugin, refKey } from '../api/index.ts';
import { keyOf } from './store.ts';

/** A Plugin in a Plugin in a Plugin: a chart that goes on rendering itself under new names ends here. */
export const DEEPEST_NESTING = 5;

type Labelled = { metadata: Pick<ObjectMeta, 'labels'> };
type GetPlugin = (key: string) => Plugin | undefined;

/**
 * Key of the Plugin that rendered this one. Its labels come before those of a Sync: they are written with every apply,
 * and where a Plugin that was declared is rendered by another now, those of the Sync are what is left from before.
 */
export function parentKeyOf({ metadata: { labels } }: Labelled): string | undefined {
  const [name, namespace] = [labels?.[LABEL.plugin], labels?.[LABEL.pluginNamespace]];
  return name === undefined || namespace === undefined ? undefined : `${namespace}/${name}`;
}

/** Key of the Sync that wrote a Plugin; undefined for one that is nested, or stands for itself. */
export function syncKeyOf(plugin: Labelled): string | undefined {
  const { labels } = plugin.metadata;
  const [name, namespace] = [labels?.[LABEL.sync], labels?.[LABEL.syncNamespace]];
  return name === undefined || parentKeyOf(plugin) !== undefined ? undefined : `${namespace ?? ''}/${name}`;
}

/** Key of the Sync whose facts a Plugin takes: the one that wrote it, or the one that its annotation names. */
export function factsKeyOf(plugin: Plugin): string | undefined {
  return syncKeyOf(plugin) ?? plugin.metadata.annotations?.[ANNOTATION.factsOf];
}

export type Parents =
  | { state: 'known'; parents: readonly Plugin[] }
  /** The one with this key is not there. */
  | { state: 'missing'; key: string }
  | { state: 'refused'; why: string };

const NO_PARENTS: Parents = { state: 'known', parents: [] };

/** Those that a Plugin is nested in, nearest first. */
export function parentsOf(plugin: Plugin, get: GetPlugin): Parents {
  if (parentKeyOf(plugin) === undefined) return NO_PARENTS;
  const parents: Plugin[] = [];
  const way = [keyOf(plugin)];
  for (let key = parentKeyOf(plugin); key !== undefined; ) {
    if (way.includes(key)) return { state: 'refused', why: inACircle([...way, key]) };
    if (parents.length === DEEPEST_NESTING) return { state: 'refused', why: tooDeep(way) };
    const parent = get(key);
    if (parent === undefined) return { state: 'missing', key };
    parents.push(parent);
    way.push(key);
    key = parentKeyOf(parent);
  }
  return { state: 'known', parents };
}

function inACircle(way: readonly string[]): string {
  return `Plugins can't render one another: ${way.toReversed().join(' renders ')}`;
}

function tooDeep(way: readonly string[]): string {
  return `it is nested more than ${DEEPEST_NESTING} deep: ${way.toReversed().join(' renders ')}`;
}

/** The Plugin at the top of those that this one is nested in: itself, mostly. Undefined where that can't be told. */
export function rootOf(plugin: Plugin, get: GetPlugin): Plugin | undefined {
  const found = parentsOf(plugin, get);
  return found.state === 'known' ? (found.parents.at(-1) ?? plugin) : undefined;
}

/** Key of the Sync whose revision a Plugin is part of, itself or by what it is nested in. */
export function syncOver(plugin: Plugin, get: GetPlugin): string | undefined {
  const root = rootOf(plugin, get);
  return root === undefined ? undefined : syncKeyOf(root);
}

const PLUGIN_KEYS = refKey({ apiVersion: API_VERSION, kind: 'Plugin', namespace: '', name: '' }).slice(0, -1);

/** Key of the Plugin that a reference key (`refKey`) is about; undefined for other objects. */
export function pluginKeyIn(objectKey: string): string | undefined {
  return objectKey.startsWith(PLUGIN_KEYS) ? objectKey.slice(PLUGIN_KEYS.length) : undefined;
}

/** Keys of the Plugins among objects, by their reference keys. */
export function pluginKeysIn(objectKeys: Iterable<string>): string[] {
  return [...objectKeys].flatMap((key) => pluginKeyIn(key) ?? []);
}

/** What is nested in a Plugin directly. */
export function childrenOf(key: string, plugins: Iterable<Plugin>): Plugin[] {
  return [...plugins].filter((plugin) => parentKeyOf(plugin) === key);
}

/** Everything that is nested in a Plugin, at any depth. */
export function* nestedIn(key: string, plugins: Iterable<Plugin>): Generator<Plugin> {
  const children = Map.groupBy(plugins, (plugin) => parentKeyOf(plugin) ?? '');
  const seen = new Set([key]);
  for (const parent of seen) {
    for (const child of children.get(parent) ?? []) {
      if (seen.has(keyOf(child))) continue;
      seen.add(keyOf(child));
      yield child;
    }
  }
}
