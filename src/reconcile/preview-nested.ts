import type { Plugin } from '../api/index.ts';
import { circleThrough } from './circle.ts';
import type { PluginsNow } from './nested-losses.ts';
import { childrenOf, nestedIn, parentsOf } from './nesting.ts';
import type { PreviewInput } from './preview.ts';
import type { DeclaredKeys } from './preview-plugin.ts';
import type { RenderedRevision, RevisionPlugin } from './render-revision.ts';
import { keyOf } from './store.ts';

/** Which Plugins somebody asks about, by key. */
export type Meant = (key: string) => boolean;

/** Each Plugin with what is nested in it right behind it. */
export function withNestedBehind(plugins: readonly RevisionPlugin[]): RevisionPlugin[] {
  const children = Map.groupBy(plugins, ({ parents: [parent] }) => (parent === undefined ? '' : keyOf(parent)));
  const behind = (one: RevisionPlugin): RevisionPlugin[] => [one, ...(children.get(one.key) ?? []).flatMap(behind)];
  return (children.get('') ?? []).flatMap(behind);
}

/** Who asks about a Plugin asks about what is nested in it. */
export function isMeantOf(isMeant: Meant, { key, parents }: RevisionPlugin): boolean {
  return [key, ...parents.map(keyOf)].some(isMeant);
}

export function isMeantWith(isMeant: Meant, plugin: Plugin, plugins: readonly Plugin[]): boolean {
  const live = new Map(plugins.map((one) => [keyOf(one), one]));
  const nesting = parentsOf(plugin, (key) => live.get(key));
  return [plugin, ...(nesting.state === 'known' ? nesting.parents : [])].map(keyOf).some(isMeant);
}

/** Circles that what is rendered brings about: those of the declarations alone are told before. */
export function circlesIn(
  candidates: readonly RevisionPlugin[],
  live: ReadonlyMap<string, Plugin>,
): { plugin: string; message: string }[] {
  const known = new Map(candidates.map(({ key, plugin }) => [key, plugin]));
  const children = Map.groupBy(candidates, ({ parents: [parent] }) => (parent === undefined ? '' : keyOf(parent)));
  const graph = {
    plugin: (key: string) => known.get(key) ?? live.get(key),
    children: (key: string) => (children.get(key) ?? []).map((one) => one.key),
  };
  return candidates
    .filter(({ plugin, isNew }) => isNew && (plugin.spec.dependsOn ?? []).length > 0)
    .flatMap(({ key }) => {
      const message = circleThrough(key, graph);
      return message === undefined ? [] : [{ plugin: key, message }];
    });
}

/** Nested Plugins in the cluster that nothing of the revision renders any more, because of what it renders or of what goes. */
export function vanishedPlugins(
  { plugins, compiled }: PreviewInput,
  { plugins: candidates, nested }: RenderedRevision,
  removed: readonly Plugin[],
): Plugin[] {
  const stays = (plugin: Plugin) => nested.has(keyOf(plugin)) || compiled.plugins.has(keyOf(plugin));
  const leaving = removed.filter(({ spec }) => spec.deletion?.policy !== 'orphan').map(keyOf);
  const changed = candidates.filter(({ asBefore }) => asBefore !== true).map(({ key }) => key);
  const first = [...leaving, ...changed].flatMap((key) => childrenOf(key, plugins)).filter((plugin) => !stays(plugin));
  const all = new Set(first);
  for (const plugin of all) for (const below of nestedIn(keyOf(plugin), plugins)) if (!stays(below)) all.add(below);
  return [...all];
}

/** As they will be once the revision is in force. */
export function pluginsIn(plugins: readonly Plugin[], declared: DeclaredKeys): PluginsNow {
  const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  return {
    get: (key) => live.get(key),
    values: () => live.values(),
    elsewhere: (self, at) => [...declared].find(([key, objects]) => key !== self && objects.has(at))?.[0],
  };
}

/** Keys of nested Plugins that a plan of these Plugins is also about. */
export function withNested(keys: readonly string[], plugins: readonly Plugin[]): string[] {
  return [...new Set(keys.flatMap((key) => [key, ...[...nestedIn(key, plugins)].map(keyOf)]))];
}
