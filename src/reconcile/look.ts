import { type DriftEntry, FIELD_MANAGER, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import type { ApplyTask, FieldConflict } from '../converge/apply.ts';
import type { Inventory } from '../converge/inventory.ts';
import { readLive } from '../converge/live.ts';
import { withoutIgnored } from '../plan/ignore.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import { ownerOf } from '../plan/ownership.ts';
import { planObjects } from '../plan/plan.ts';
import { asAccount } from './account.ts';
import type { Facts } from './facts.ts';
import { driftOfEntry, findDrift } from './find-drift.ts';
import { countInstances } from './instances.ts';
import type { Parts } from './parts.ts';
import { DROPPED, isDeclared } from './records.ts';
import type { Rendered } from './rendered.ts';
import { keyOf } from './store.ts';

export interface LookInput {
  key: string;
  plugin: Plugin;
  facts: Facts;
  record: Inventory;
  rendered: Rendered;
  full: boolean;
}

export type Look =
  /** Another Plugin must say first whether it still wants an object. */
  | { state: 'wait'; why: string }
  | {
      state: 'planned';
      plan: PluginPlan;
      tasks: ApplyTask[];
      /** Drift that the tasks undo, by object. */
      repairs: Map<string, DriftEntry>;
      /** Drift that stays. */
      report: DriftEntry[];
    };

/**
 * Compares what is declared with what is there. Objects that are on record as declared now, and that the watches show
 * untouched, cost nothing; the others are read.
 */
export async function lookAtCluster(parts: Parts, input: LookInput): Promise<Look> {
  const { key, plugin, record, rendered } = input;
  const drift = findDrift(parts, key, plugin, record);
  const open = rendered.objects.filter((object) => input.full || !isSettled(parts, input, object, drift.repair));
  const openKeys = new Set(open.map((object) => refKey(refOf(object))));
  const desiredKeys = new Set(rendered.hashes.keys());
  const dropped = [...record]
    .filter(([at, entry]) => !desiredKeys.has(at) && (isDeclared(entry) || entry.applied === DROPPED))
    .map(([, entry]) => entry);
  const client = asAccount(parts.client, input.facts.account);
  const live = await readLive(client, [...open.map((object) => refOf(object)), ...dropped]);

  for (const object of open) {
    const at = refKey(refOf(object));
    const owner = live.has(at) ? ownerOf(live.get(at) as KubeObject) : undefined;
    if (owner === undefined || owner === key || parts.declared.declares(owner, at) !== 'unknown') continue;
    parts.renderWaiters.add(owner, key);
    return {
      state: 'wait',
      why: `waits to hear whether Plugin ${owner} still declares ${object.kind} ${object.metadata.name}`,
    };
  }
  const unknown = dropped.length === 0 ? undefined : parts.declared.whatIsUnknown(plugin);
  const instances = await countInstances(client, dropped, live);
  const plan = planObjects({
    plugin: { namespace: plugin.metadata.namespace ?? '', name: plugin.metadata.name },
    desired: open,
    live,
    record: [...record.values()].filter((entry) => openKeys.has(refKey(entry)) || dropped.includes(entry)),
    rules: rulesOf(plugin),
    revisionComplete: unknown === undefined && input.facts.pruneEnabled,
    ensure: rendered.ensure,
    elsewhere: (at) => parts.declared.elsewhere(key, at),
    ownerStillDeclares: (owner, at) => parts.declared.declares(owner, at) !== 'no',
    isAgent: (ref) => parts.isAgent(ref),
    instancesOf: (name) => instances.get(name),
    namespaceUsedBy: (namespace) => namespaceUser(parts, key, namespace),
  });
  return {
    state: 'planned',
    plan,
    tasks: tasksFor(parts, input, plan, open, live, drift.repair),
    repairs: repairsOf(parts, input, drift.repair),
    report: drift.report,
  };
}

function isSettled(
  parts: Parts,
  { key, record, rendered }: LookInput,
  object: KubeObject,
  repair: ReadonlySet<string>,
): boolean {
  const at = refKey(refOf(object));
  const entry = record.get(at);
  if (
    entry?.uid === undefined ||
    entry.applied !== rendered.hashes.get(at) ||
    entry.apiVersion !== object.apiVersion ||
    repair.has(at)
  )
    return false;
  const seen = parts.owned.get(at);
  if (seen === undefined) return false;
  return seen.plugin === key && seen.uid === entry.uid;
}

export function rulesOf(plugin: Plugin): {
  deletion: NonNullable<Plugin['spec']['deletion']>;
  adopt: boolean;
  force: boolean;
} {
  return { deletion: plugin.spec.deletion, adopt: plugin.spec.apply.adopt, force: plugin.spec.apply.force };
}

function tasksFor(
  parts: Parts,
  input: LookInput,
  plan: PluginPlan,
  open: readonly KubeObject[],
  live: ReadonlyMap<string, KubeObject>,
  repair: ReadonlySet<string>,
): ApplyTask[] {
  const byKey = new Map(open.map((object) => [refKey(refOf(object)), object]));
  const tasks: ApplyTask[] = [];
  for (const step of plan.objects) {
    const declared = byKey.get(step.key);
    if (declared === undefined) continue;
    const writes =
      step.action === 'create' ||
      step.action === 'change' ||
      step.action === 'adopt' ||
      (step.action === 'unchanged' && step.isOurs);
    if (!writes) continue;
    const form = withoutIgnored(declared, live.get(step.key), input.plugin.spec.drift?.ignore ?? [], FIELD_MANAGER);
    const object = form.onlyAgainst === undefined ? form.object : pinned(form.object, form.onlyAgainst);
    tasks.push({
      object,
      force: repair.has(step.key) || step.action === 'adopt' || input.plugin.spec.apply.force,
      mayTake: (conflicts) => mayTake(parts, input.plugin, step.key, conflicts),
    });
  }
  return tasks;
}

/** Fields that were ours and were taken by hand are taken back, where repairs are wanted. */
function mayTake(parts: Parts, plugin: Plugin, key: string, conflicts: readonly FieldConflict[]): boolean {
  return plugin.spec.drift?.mode === 'repair' && conflicts.length > 0 && parts.owned.hasDrifted(key);
}

function pinned(object: KubeObject, resourceVersion: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

function repairsOf(
  parts: Parts,
  { key, plugin, record }: LookInput,
  repair: ReadonlySet<string>,
): Map<string, DriftEntry> {
  const entries = new Map<string, DriftEntry>();
  for (const at of repair) {
    const entry = record.get(at);
    const drift = entry === undefined ? undefined : driftOfEntry(parts, key, plugin, at, entry);
    if (drift !== undefined) entries.set(at, drift);
  }
  return entries;
}

function namespaceUser(parts: Parts, key: string, namespace: string): string | undefined {
  for (const plugin of parts.plugins.values()) {
    const other = keyOf(plugin);
    if (other !== key && (plugin.status?.inventory ?? []).some((entry) => entry.namespace === namespace)) return other;
  }
  return undefined;
}
