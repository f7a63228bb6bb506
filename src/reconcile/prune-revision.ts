import { ANNOTATION, describeRef, isError, refKey, type Sync, type SyncInventoryEntry } from '../api/index.ts';
import { settleAll } from '../converge/limit.ts';
import { type ApprovalInput, type Hold, holdRemovals, isApproved } from '../plan/hold.ts';
import type { Compiled } from './compile.ts';
import { pluginsIn } from './history.ts';
import { lostWith, type PluginsNow, pluginsNow } from './nested-losses.ts';
import { parentKeyOf, syncKeyOf, syncOver } from './nesting.ts';
import { keyOf } from './store.ts';
import type { SyncMemory } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import type { SyncFindings } from './sync-status.ts';

const LISTED = 5;

export interface PruneInput {
  key: string;
  sync: Sync;
  compiled: Compiled;
  memory: SyncMemory;
  inventory: SyncInventoryEntry[];
  findings: SyncFindings;
}

/**
 * Removes what the revision no longer declares, once nothing speaks against it: everything in the revision could be
 * read and rendered, the removal is small or approved, and the history was not rewritten.
 */
export async function pruneRevision(
  parts: SyncParts,
  { key, sync, compiled, memory, inventory, findings }: PruneInput,
): Promise<void> {
  findings.held = 'none';
  const wanted = new Set(compiled.levels.flat().map((one) => one.key));
  const undeclared = inventory.filter((entry) => !wanted.has(refKey(entry)));
  const declared = new Set(compiled.declarations.objects.map((one) => one.key));
  const present = undeclared.filter((entry) => isStillOurs(parts, sync, entry));
  findings.inventory = inventory.filter((entry) => !undeclared.includes(entry) || present.includes(entry));
  const left = present.filter((entry) => !compiled.frozen.has(refKey(entry)) && !declared.has(refKey(entry)));
  const protectedOnes = left.filter((entry) => parts.isAgent(entry));
  const handedOver = left.filter(
    (entry) => entry.kind === 'Plugin' && handOver(parts, key, keyOf({ metadata: entry })),
  );
  const removals = left.filter((entry) => !protectedOnes.includes(entry) && !handedOver.includes(entry));
  if (protectedOnes.length > 0)
    findings.stays = [`${listed(protectedOnes)}, which the agent never removes: it is a part of itself`];
  if (handedOver.length > 0) findings.removalsWait = `others take over ${listed(handedOver)}`;
  const hasFaults = findings.faults !== undefined && findings.faults.length > 0;
  if (removals.length === 0 && !hasFaults) delete memory.base;
  findings.base = memory.base ?? 'none';
  if (removals.length === 0) return;
  if (!sync.spec.prune.enabled) {
    findings.stays = [...(findings.stays ?? []), `${listed(removals)}, because spec.prune.enabled is false`];
    return;
  }
  if (hasFaults) {
    findings.removalsWait = `${removals.length} removals wait until every fault is corrected`;
    return;
  }
  const unknown = parts.declared.unrenderedOf(key);
  if (unknown !== undefined) {
    findings.removalsWait = `${removals.length} removals wait for ${unknown}`;
    return;
  }
  const lost = pluginsIn(removals).filter((entry) => !isMoved(parts, entry));
  const nested = nestedCounts(key, lost, pluginsNow(parts));
  const hold = removalHold(sync, compiled, { remove: lost.length, nested }, memory);
  if (hold.held) {
    const reason = `${hold.reason}; approve: ${hold.howToApprove}`;
    findings.held = { commit: compiled.commit, reason, objects: lost.map(describeRef) };
    return;
  }
  if (isApproved(approvalOf(sync, compiled))) findings.approved = compiled.commit;
  await remove(parts, removals);
  findings.removalsWait = `removing ${listed(removals)}`;
}

/** Whether removing so many of a Sync's objects waits for consent. Renamed ones are not removed. */
export function removalHold(
  sync: Sync,
  compiled: Compiled,
  { remove, nested }: { remove: number; nested: NestedCounts },
  { base, history }: Pick<SyncMemory, 'base' | 'history'>,
): Hold {
  return holdRemovals({
    what: 'plugins',
    remove: remove + nested.remove,
    owned: Math.max(remove, base?.count ?? 0) + nested.owned,
    limits: sync.spec.prune.hold,
    history,
    approval: approvalOf(sync, compiled),
  });
}

/** Plugins below those that a Sync wrote. */
export interface NestedCounts {
  remove: number;
  owned: number;
}

/** What goes along with Plugins that go, and what there is of a Sync below those that it wrote. */
export function nestedCounts(
  sync: string,
  going: readonly Pick<SyncInventoryEntry, 'kind' | 'namespace' | 'name'>[],
  now: PluginsNow,
): NestedCounts {
  const keys = new Set(going.filter(({ kind }) => kind === 'Plugin').map((metadata) => keyOf({ metadata })));
  const nested = [...now.values()].filter((one) => parentKeyOf(one) !== undefined);
  const below = nested.filter((one) => syncOver(one, now.get) === sync);
  const lost = lostWith(
    [...keys].flatMap((key) => now.get(key) ?? []),
    now,
  );
  return { remove: lost.filter((one) => !keys.has(keyOf(one))).length, owned: below.length };
}

/** Another Sync declares it too, or a Plugin renders it, and was told to keep off: now it is welcome to it, as it is. */
export function handOver(parts: SyncParts, key: string, plugin: string): boolean {
  const [next] = parts.declared.syncsWith(plugin).filter((sync) => sync !== key);
  if (next !== undefined) parts.wakeSync(next);
  const parent = next === undefined ? parts.declared.renderedBy(plugin) : undefined;
  if (parent !== undefined) parts.wakePlugin(parent);
  return (next ?? parent) !== undefined;
}

/** Everything that the Plugin installed is declared by others now: it was renamed or split up, and takes nothing along. */
function isMoved(parts: SyncParts, entry: SyncInventoryEntry): boolean {
  const key = keyOf({ metadata: entry });
  const inventory = entry.kind === 'Plugin' ? (parts.plugins.get(key)?.status?.inventory ?? []) : [];
  return inventory.length > 0 && inventory.every((one) => parts.declared.elsewhere(key, refKey(one)) !== undefined);
}

function listed(entries: readonly SyncInventoryEntry[]): string {
  return entries.slice(0, LISTED).map(describeRef).join(', ');
}

function approvalOf(sync: Sync, compiled: Compiled): ApprovalInput {
  const { name, namespace = '', annotations } = sync.metadata;
  return { commit: compiled.commit, approved: annotations?.[ANNOTATION.approve], sync: { namespace, name } };
}

async function remove(parts: SyncParts, removals: readonly SyncInventoryEntry[]): Promise<void> {
  const results = await settleAll(removals, 8, async (entry) => {
    const live = parts.storeFor(entry.kind)?.get(`${entry.namespace ?? ''}/${entry.name}`);
    if (live?.metadata.deletionTimestamp !== undefined) return;
    try {
      await parts.client.delete(entry, entry.uid === undefined ? {} : { uid: entry.uid });
    } catch (error) {
      // Replaced under the same name: not the one on record, so not ours to delete.
      if (!isError(error, 'KubeConflict') || (await parts.client.get(entry))?.metadata.uid === entry.uid) throw error;
    }
  });
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** On record and really there as ours: not taken over by another Sync, not replaced by a person's. */
function isStillOurs(parts: SyncParts, sync: Sync, entry: SyncInventoryEntry): boolean {
  const live = parts.storeFor(entry.kind)?.get(`${entry.namespace ?? ''}/${entry.name}`);
  if (live === undefined) return false;
  if (entry.uid !== undefined && live.metadata.uid !== entry.uid) return false;
  return syncKeyOf(live) === keyOf(sync);
}
