import { groupOf, type InventoryEntry, isError, type Plugin, refKey, refOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { isBuiltIn, removalWave } from '../converge/stages.ts';
import { isWanted } from './activity.ts';
import { claimsIn, countInstances, isDefinition, isNamespace } from './contents.ts';
import { whyDroppedStay } from './dropped.ts';
import type { FactsParts } from './facts.ts';
import { parentsOf, syncKeyOf } from './nesting.ts';
import type { Parts } from './parts.ts';
import { KEPT } from './records.ts';
import { keyOf } from './store.ts';

/** Why an object has to wait, asked right before it is deleted; undefined when it may go. */
export type RemovalGate = (entry: InventoryEntry) => Promise<string | undefined>;

/**
 * The order of removal among Plugins that no dependency tells. Custom objects go while the Plugin that defines their
 * kind still runs: their finalizers may need it. A definition or a namespace goes when nothing is left in it that would
 * go along. Custom objects themselves wait for nobody here, so that no two Plugins can wait for each other.
 */
export function removalGate(parts: Parts, key: string, plugin: Plugin, client: KubeClient): RemovalGate {
  let holders: Promise<string[]> | undefined;
  const whyOthersFirst = async (entry: InventoryEntry): Promise<string | undefined> => {
    if (['webhooks', 'custom'].includes(removalWave(entry))) return undefined;
    holders ??= holdersOfOurKinds(parts, key, plugin);
    const first = await holders;
    if (first.length > 0) return `waits until the custom objects of ${first.join(', ')} are gone`;
    if (isDefinition(entry)) return await whyDefinitionWaits(client, entry);
    return isNamespace(entry) ? await whyNamespaceWaits(parts, key, plugin, client, entry.name) : undefined;
  };
  // Last: whoever deletes goes on at once, and whatever was decided before may be old.
  return async (entry) => (await whyOthersFirst(entry)) ?? whyNotNow(parts, key, plugin, entry);
}

/** A removal takes its time, and what is declared may change meanwhile: an object that is wanted again stays. */
function whyNotNow(parts: Parts, key: string, plugin: Plugin, entry: InventoryEntry): string | undefined {
  const { declared } = parts;
  const at = refKey(entry);
  const unknown = declared.whatIsUnknown(plugin);
  if (unknown !== undefined) return `waits for ${unknown}`;
  if (declared.declares(key, at) !== 'no') return `Plugin ${key} may declare it again`;
  const to = declared.elsewhere(key, at);
  return to === undefined ? undefined : `Plugin ${to} declares it now`;
}

/** On its way out, or no longer in the revision and to be removed, whatever that still waits for. */
export function isOnItsWayOut(parts: FactsParts & Pick<Parts, 'declared'>, plugin: Plugin): boolean {
  if (plugin.metadata.deletionTimestamp !== undefined || !isWanted(parts, plugin)) return true;
  const nesting = parentsOf(plugin, (key) => parts.plugins.get(key));
  const [parent] = nesting.state === 'known' ? nesting.parents : [];
  if (parent !== undefined)
    return isOnItsWayOut(parts, parent) || parts.declared.declares(keyOf(parent), refKey(refOf(plugin))) === 'no';
  const sync = syncKeyOf(plugin);
  if (sync === undefined || !parts.declared.isDropped(sync, keyOf(plugin))) return false;
  return parts.syncs.get(sync)?.spec.prune.enabled ?? true;
}

/** Other Plugins that let go of objects of kinds this one defines. Those that this one depends on go after it anyway. */
async function holdersOfOurKinds(parts: Parts, key: string, plugin: Plugin): Promise<string[]> {
  const definitions = new Set((plugin.status?.inventory ?? []).filter(isDefinition).map((entry) => entry.name));
  if (definitions.size === 0) return [];
  const holders: string[] = [];
  for (const other of parts.plugins.values()) {
    const otherKey = keyOf(other);
    if (otherKey === key || parts.dependents.reaches(key, otherKey)) continue;
    for (const entry of leavingOf(parts, other)) {
      if (isBuiltIn(entry) || !definitions.has(await definitionOf(parts.client, entry))) continue;
      holders.push(otherKey);
      break;
    }
  }
  return holders;
}

/** Reference keys of what other Plugins let go. Only who drops definitions has to ask all others. */
export function leavingElsewhere(parts: Parts, key: string, dropped: readonly InventoryEntry[]): Set<string> {
  if (!dropped.some(isDefinition)) return new Set();
  const others = [...parts.plugins.values()].filter((plugin) => keyOf(plugin) !== key);
  return new Set(others.flatMap((plugin) => leavingOf(parts, plugin)).map(refKey));
}

/** What goes, or will as soon as the Plugin is looked at. */
function leavingOf(parts: Parts, plugin: Plugin): readonly InventoryEntry[] {
  const key = keyOf(plugin);
  const isLeaving = (entry: InventoryEntry) =>
    entry.applied !== KEPT && parts.declared.declares(key, refKey(entry)) === 'no';
  const leaving = (plugin.status?.inventory ?? []).filter(isLeaving);
  // Last, and seldom asked: it looks at every Plugin of the revision.
  if (leaving.length > 0 && !isOnItsWayOut(parts, plugin) && whyDroppedStay(parts, plugin) !== undefined) return [];
  return leaving;
}

async function whyDefinitionWaits(client: KubeClient, entry: InventoryEntry): Promise<string | undefined> {
  const live = await client.get(entry);
  const count = live === undefined ? 0 : await countInstances(client, live);
  return count === 0 ? undefined : `${count === 'unknown' ? 'nobody knows how many' : count} objects of it exist`;
}

async function whyNamespaceWaits(
  parts: Parts,
  key: string,
  plugin: Plugin,
  client: KubeClient,
  namespace: string,
): Promise<string | undefined> {
  for (const other of parts.plugins.values()) {
    const isIn = (other.status?.inventory ?? []).some((entry) => entry.namespace === namespace);
    if (isIn && keyOf(other) !== key) return `waits until the objects of ${keyOf(other)} in it are gone`;
  }
  const claims = plugin.spec.deletion.volumes === 'delete' ? [] : await claimsIn(client, namespace);
  if (claims === 'unknown') return 'nobody knows which volume claims are in it';
  return claims.length === 0 ? undefined : `PersistentVolumeClaim ${claims[0]} is in it`;
}

/** The name of the CustomResourceDefinition behind a kind; empty when the kind is not served (any more). */
async function definitionOf(client: KubeClient, entry: InventoryEntry): Promise<string> {
  try {
    const { plural } = await client.resource(entry.apiVersion, entry.kind);
    return `${plural}.${groupOf(entry.apiVersion)}`;
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return '';
    throw error;
  }
}
