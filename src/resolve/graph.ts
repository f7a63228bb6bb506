import { type ObjectRef, refKey } from '../api/index.ts';
import { components } from './components.ts';
import { cyclesIn } from './cycle.ts';
import { readNeeds } from './needs.ts';
import { depthsOf, waitingOn } from './order.ts';

/** An entry of `dependsOn`: a Plugin by name, any object when it has a kind, every object of the kind when it has no name. */
export interface Dependency {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
}

export interface GraphPlugin {
  namespace: string;
  name: string;
  dependsOn?: readonly Dependency[];
  /** Objects it is known to make: who depends on one of them depends on it. */
  provides?: readonly ObjectRef[];
  /** Why it is not on this cluster now (`it is disabled`): who depends on it waits. */
  inactive?: string;
}

export interface Refusal {
  code: 'DependencyCycle' | 'DependencyMissing';
  message: string;
}

/** Plugins are keyed `namespace/name`, other objects by `refKey`. */
export interface Graph {
  /** Every plugin once, each after what it depends on. Reversed, it is the order to remove in. Members of a cycle stand together. */
  order: string[];
  /** The same, in steps that can run side by side. */
  levels: string[][];
  /** Plugins that can never start as they are written. */
  refused: Map<string, Refusal>;
  /** Plugins that are right themselves but need, directly or not, one that is refused or inactive; and why. */
  waiting: Map<string, string>;
  /** What names this plugin or object in its `dependsOn`, directly. */
  dependentsOf(key: string): readonly string[];
  /** The plugins and objects that this plugin names, directly. */
  needsOf(key: string): readonly string[];
}

export interface GraphOptions {
  /** Whether a `dependsOn` may name plugins of this namespace. All may be named when left out. */
  mayName?: (namespace: string) => boolean;
  /** Some of them may render Plugins that nobody knows yet: an unknown name is waited for, and no fault. */
  mayAppear?: boolean;
}

export function pluginKey(plugin: { namespace: string; name: string }): string {
  return `${plugin.namespace}/${plugin.name}`;
}

/** One graph over all plugins, whichever declaration or person they come from. Pass all of them: an unknown name is a fault. */
export function buildGraph(plugins: readonly GraphPlugin[], options: GraphOptions = {}): Graph {
  const known = new Map([...plugins].map((plugin) => [pluginKey(plugin), plugin] as const).sort(byKey));
  const { needs, labels, refused } = readNeeds(known, options);
  const edges = new Map(needs);
  for (const [key, plugin] of known) {
    for (const ref of plugin.provides ?? []) {
      const object = refKey(ref);
      edges.set(object, [...(edges.get(object) ?? []), key]);
    }
  }
  const groups = components(edges);
  for (const [key, refusal] of cyclesIn(groups, edges, known, labels)) refused.set(key, refusal);
  const depths = depthsOf(groups, edges, known);
  const order = [...known.keys()].sort((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0) || (a < b ? -1 : 1));
  const dependents = reversed(needs);
  return {
    order,
    levels: levelsOf(order, depths),
    refused,
    waiting: waitingOn(order, edges, known, refused),
    dependentsOf: (key) => dependents.get(key) ?? [],
    needsOf: (key) => needs.get(key) ?? [],
  };
}

function levelsOf(order: readonly string[], depths: ReadonlyMap<string, number>): string[][] {
  const levels = new Map<number, string[]>();
  for (const key of order) {
    const depth = depths.get(key) ?? 0;
    const level = levels.get(depth);
    if (level === undefined) levels.set(depth, [key]);
    else level.push(key);
  }
  return [...levels.values()];
}

function reversed(edges: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const back = new Map<string, string[]>();
  for (const [from, targets] of edges) {
    for (const to of targets) {
      const list = back.get(to);
      if (list === undefined) back.set(to, [from]);
      else list.push(from);
    }
  }
  return back;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
