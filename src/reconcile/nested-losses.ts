import { isKind, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import { nestedIn, pluginKeyIn, pluginKeysIn } from './nesting.ts';
import type { Parts } from './parts.ts';
import { DROPPED, isDeclared } from './records.ts';
import { keyOf } from './store.ts';

export interface PluginsNow {
  get(key: string): Plugin | undefined;
  values(): Iterable<Plugin>;
  /** Another Plugin than this one that declares an object. */
  elsewhere(plugin: string, object: string): string | undefined;
}

/** As the agent knows them. */
export function pluginsNow({ plugins, declared }: Pick<Parts, 'plugins' | 'declared'>): PluginsNow {
  return {
    get: (key) => plugins.get(key),
    values: () => plugins.values(),
    elsewhere: (plugin, object) => declared.elsewhere(plugin, object),
  };
}

export interface NestedLosses {
  /** Plugins that would be uninstalled, at any depth, and how many there are. */
  plugins: number;
  owned: number;
  /** What they installed and nobody takes over. */
  objects: number;
}

export interface LossesInput {
  plan: PluginPlan;
  record: Inventory;
  /** What is rendered now. */
  objects: readonly KubeObject[];
}

/** What goes with the Plugins that a Plugin no longer renders, or now renders switched off. */
export function nestedLosses({ plan, record, objects }: LossesInput, now: PluginsNow): NestedLosses {
  const children = [...record.values()]
    .filter((entry) => isDeclared(entry) || entry.applied === DROPPED)
    .flatMap((entry) => now.get(pluginKeyIn(refKey(entry)) ?? '') ?? []);
  const deleted = keysOf(plan.objects.filter(({ action }) => action === 'delete').map(({ key }) => key));
  const off = keysOf(objects.filter(isSwitchedOff).map((object) => refKey(refOf(object))));
  const going = children.filter((child) => deleted.has(keyOf(child)) || (child.spec.enabled && off.has(keyOf(child))));
  const lost = lostWith(going, now);
  return {
    plugins: lost.length,
    owned: children.length + children.reduce((sum, child) => sum + [...nestedIn(keyOf(child), now.values())].length, 0),
    objects: lost.reduce((sum, plugin) => sum + objectsLost(plugin, now), 0),
  };
}

/** Plugins that go, and what is nested in them. Renamed ones, of which others declare everything, are not lost. */
export function lostWith(going: readonly Plugin[], now: PluginsNow): Plugin[] {
  const all = going.flatMap((plugin) => [plugin, ...nestedIn(keyOf(plugin), now.values())]);
  return all.filter((plugin) => !isTakenOver(plugin, now));
}

function isTakenOver(plugin: Plugin, now: PluginsNow): boolean {
  const inventory = plugin.status?.inventory ?? [];
  return inventory.length > 0 && inventory.every((entry) => now.elsewhere(keyOf(plugin), refKey(entry)) !== undefined);
}

function objectsLost(plugin: Plugin, now: PluginsNow): number {
  return (plugin.status?.inventory ?? [])
    .map(refKey)
    .filter((at) => pluginKeyIn(at) === undefined && now.elsewhere(keyOf(plugin), at) === undefined).length;
}

function keysOf(objectKeys: readonly string[]): Set<string> {
  return new Set(pluginKeysIn(objectKeys));
}

function isSwitchedOff(object: KubeObject): boolean {
  return isKind(object, 'Plugin') && (object as unknown as Plugin).spec.enabled === false;
}
