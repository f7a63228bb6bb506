import {
  describeRef,
  EspalierError,
  type InventoryEntry,
  isError,
  messageOf,
  type Plugin,
  refKey,
} from '../api/index.ts';
import { type Inventory, without } from '../converge/inventory.ts';
import { readLive } from '../converge/live.ts';
import { describeProgress, removeNextWave } from '../converge/prune.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import { SYNC_OWNER } from '../plan/ownership.ts';
import { planObjects } from '../plan/plan.ts';
import { clientFor } from './account.ts';
import { contentsOf, namespaceUser } from './contents.ts';
import { isTaken } from './handover.ts';
import { rulesOf } from './look.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import { DROPPED, KEPT, LEAVING, MOVING } from './records.ts';
import { isOnItsWayOut, leavingElsewhere, removalGate } from './removal-order.ts';

/** Writes the plan's deletions into the record before they happen: what goes, what stays by a rule, and what is undecided or moves. */
export function markLeaving(record: Inventory, plan: PluginPlan): Inventory {
  const next = new Map(record);
  for (const object of plan.objects) {
    const entry = next.get(object.key);
    if (entry === undefined) continue;
    if (object.action === 'delete') next.set(object.key, { ...entry, uid: object.uid, applied: LEAVING });
    else if (object.action === 'keep')
      next.set(object.key, { ...entry, applied: object.reason === 'incomplete' ? DROPPED : KEPT });
    else if (object.action === 'moved') next.set(object.key, { ...entry, applied: MOVING });
  }
  return next;
}

const LEAVING_RETRY_MS = 10_000;

export interface LeavingProgress {
  record: Inventory;
  /** What was asked to go and is still there, and why, for people. */
  still: string[];
  /** Something could not even be asked. */
  error?: unknown;
}

/** Takes the removal of marked objects one wave further. One that hangs is named, and holds nothing else up. */
export async function removeLeaving(
  parts: Parts,
  key: string,
  plugin: Plugin,
  record: Inventory,
): Promise<LeavingProgress> {
  const leaving = [...record.values()].filter((entry) => entry.applied === LEAVING);
  if (leaving.length === 0) return { record, still: [] };
  // Marked before a restart: another Plugin may want one of them by now.
  const unknown = parts.declared.whatIsUnknown(plugin);
  if (unknown !== undefined)
    return { record, still: leaving.map((entry) => `${describeRef(entry)} (waits for ${unknown})`) };
  const takers = new Map(leaving.map((entry) => [entry, parts.declared.elsewhere(key, refKey(entry))]));
  const wanted = leaving.filter((entry) => takers.get(entry) === undefined);
  const [moved, moving] = [new Set<string>(), new Set<string>()];
  for (const [entry, to] of takers) {
    if (to === undefined) continue;
    (isTaken(parts, key, entry, to) ? moved : moving).add(refKey(entry));
  }
  const client = clientFor(parts, plugin);
  const progress = await removeNextWave(client, key, wanted, removalGate(parts, key, plugin, client));
  const lost = progress.failed.find(({ error }) => isError(error, 'LeaseLost', 'Aborted'));
  if (lost !== undefined) throw lost.error;
  for (const gone of [...progress.gone, ...moved]) parts.owned.forget(gone, key);
  const failures = progress.failed.map(({ ref, error }) => `${describeRef(ref)} (${messageOf(error)})`);
  const [failure] = progress.failed;
  return {
    record: marked(without(record, [...progress.gone, ...moved]), moving),
    still: [...describeProgress(progress), ...failures],
    ...(failure === undefined ? {} : { error: failure.error }),
  };
}

function marked(record: Inventory, moving: ReadonlySet<string>): Inventory {
  return new Map([...record].map(([at, entry]) => [at, moving.has(at) ? { ...entry, applied: MOVING } : entry]));
}

/** Comes back for what still leaves: with back-off where that failed, by the clock where its end may go unseen. */
export function comeBackFor(verdict: PluginVerdict, { still, error }: LeavingProgress): PluginVerdict {
  if (still.length === 0) return verdict;
  const again = { ...verdict, againInMs: Math.min(verdict.againInMs ?? LEAVING_RETRY_MS, LEAVING_RETRY_MS) };
  return verdict.error === undefined && error !== undefined ? { ...again, error } : again;
}

/** Who was told that an object is somebody else's may have it now. */
export function wakeTakers(parts: Parts, plan: PluginPlan): void {
  for (const object of plan.objects) {
    if (object.action !== 'moved') continue;
    if (object.to.startsWith(SYNC_OWNER)) parts.wakeSync(object.to.slice(SYNC_OWNER.length));
    else if (parts.plugins.get(object.to) !== undefined) parts.wakePlugin(object.to);
  }
}

/** What goes when a whole Plugin goes, and what is released because a rule or another Plugin says so. */
export async function rulesForRemoval(
  parts: Parts,
  key: string,
  plugin: Plugin,
  record: Inventory,
): Promise<{ doomed: InventoryEntry[]; released: string[]; kept: string[]; awaited: string[] }> {
  const entries = [...record.values()];
  const client = clientFor(parts, plugin);
  const live = await readLive(client, entries);
  const contents = await contentsOf(client, plugin, entries, live, leavingElsewhere(parts, key, entries));
  const plan = planObjects({
    plugin: { namespace: plugin.metadata.namespace ?? '', name: plugin.metadata.name },
    desired: [],
    live,
    record: entries,
    rules: rulesOf(plugin),
    revisionComplete: true,
    removing: true,
    elsewhere: (at) => parts.declared.elsewhere(key, at),
    ownerStillDeclares: (owner, at) => parts.declared.declares(owner, at) !== 'no',
    isAgent: (object) => parts.isAgent(object),
    namespaceUsedBy: (namespace) => namespaceUser(staying(parts), key, namespace),
    ...contents,
  });
  wakeTakers(parts, plan);
  const doomed: InventoryEntry[] = [];
  const released = plan.gone.map(refKey);
  const kept: string[] = [];
  const awaited: string[] = [];
  for (const object of plan.objects) {
    const entry = record.get(object.key);
    if (entry === undefined)
      throw new EspalierError('Internal', `the plan of a removal names ${object.key}, which is not on record`);
    if (object.action === 'delete') doomed.push({ ...entry, uid: object.uid });
    else if (object.action === 'moved' && isAwaited(parts, key, entry, object.to))
      awaited.push(`${describeRef(entry)} (taken over by Plugin ${object.to})`);
    else {
      released.push(object.key);
      if (object.action === 'keep') kept.push(`${entry.kind} ${entry.name}: ${object.why}`);
    }
  }
  return { doomed, released, kept, awaited };
}

/** A suspended one takes nothing over before somebody resumes it. */
function isAwaited(parts: Parts, key: string, entry: InventoryEntry, to: string): boolean {
  return parts.plugins.get(to)?.spec.suspend !== true && !isTaken(parts, key, entry, to);
}

/** Those on their way out are waited for, see `removalGate`. */
function staying(parts: Parts): Plugin[] {
  return [...parts.plugins.values()].filter((plugin) => !isOnItsWayOut(parts, plugin));
}
