import { type DriftEntry, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import type { ApplyTask } from '../converge/apply.ts';
import type { Inventory } from '../converge/inventory.ts';
import { readLive } from '../converge/live.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import { hasRun } from '../plan/once.ts';
import { ownerOf } from '../plan/ownership.ts';
import { planObjects } from '../plan/plan.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { asAccount } from './account.ts';
import { contentsOf, namespaceUser } from './contents.ts';
import { whyDroppedStay } from './dropped.ts';
import { tryTasks } from './dry-run.ts';
import type { Facts } from './facts.ts';
import { driftOfEntry, type Found, findDrift, findIn } from './find-drift.ts';
import { type LeftDefinition, leftDefinitions } from './left-definitions.ts';
import { noteRuns, onceWishes, toRunAgain } from './once.ts';
import type { Parts } from './parts.ts';
import { isDeclared, isUndecided } from './records.ts';
import { regarding } from './regarding.ts';
import { leavingElsewhere } from './removal-order.ts';
import type { Rendered } from './rendered.ts';
import { isPresumedAbsent } from './taken.ts';
import { formOf, type KnownWrites, type OpenObject, type Tasks, tasksFor } from './tasks.ts';

const NOTHING_EXPECTED = { namespace: () => false, kind: () => undefined };

export interface LookInput {
  key: string;
  plugin: Plugin;
  facts: Facts;
  record: Inventory;
  rendered: Rendered;
  full: boolean;
  /** What runs once and failed runs again. */
  rerun: boolean;
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
      /** Drift that stays, but for what the tasks write for another reason. */
      report: Map<string, DriftEntry>;
      /** Definitions that are newer in the cluster and stay so, for people. */
      newer: readonly string[];
    };

/**
 * Compares what is declared with what is there. Objects that are on record as declared now, and that the watches show
 * untouched, cost nothing; the others are read.
 */
export async function lookAtCluster(parts: Parts, input: LookInput): Promise<Look> {
  const { key, plugin, record, rendered } = input;
  const drift = findDrift(parts, key, plugin, record, findIn(rendered));
  const open = rendered.objects.filter((object) => {
    const at = refKey(refOf(object));
    if (rendered.undecided.has(at) || ranAsDeclared(input, at)) return false;
    return input.full || !isSettled(parts, input, object, drift.repair);
  });
  const desiredKeys = new Set(rendered.hashes.keys());
  const dropped = [...record]
    .filter(([at, entry]) => !desiredKeys.has(at) && (isDeclared(entry) || isUndecided(entry)))
    .map(([, entry]) => entry);
  const client = asAccount(parts.client, input.facts.account);
  const unread = new Set(open.filter((object) => isPresumedAbsent(parts, input, object)));
  const read = open.filter((object) => !unread.has(object));
  const live = await readLive(client, [...read.map((object) => refOf(object)), ...dropped]);
  // After a start the watches have not told yet what has run meanwhile.
  for (const [at, object] of live) if (record.get(at)?.once !== undefined) parts.owned.judgeAnew(object);
  const noted = noteRuns(parts, record);
  const rerun: ReadonlySet<string> = input.rerun ? toRunAgain(parts, noted) : new Set();

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
  const undecided = dropped.length === 0 ? undefined : whyDroppedStay(parts, plugin);
  const contents = await contentsOf(client, plugin, dropped, live, leavingElsewhere(parts, key, dropped));
  const left = leftDefinitions(plugin, rendered, live);
  tellLeft(parts, plugin, left);
  const leftKeys = new Set(left.map(({ key: at }) => at));
  const sent = open.filter((object) => !leftKeys.has(refKey(refOf(object))));
  const sentKeys = new Set(sent.map((object) => refKey(refOf(object))));
  const forms = new Map(sent.map((declared) => [refKey(refOf(declared)), openObject(plugin, declared, live, unread)]));
  const planInput: PlanInput = {
    plugin: { namespace: plugin.metadata.namespace ?? '', name: plugin.metadata.name },
    desired: [...forms.values()].map(({ form }) => form.object),
    live,
    // What is left as it is must not look like something that is no longer declared.
    record: [...noted.values()].filter((entry) => sentKeys.has(refKey(entry)) || dropped.includes(entry)),
    rules: rulesOf(plugin),
    revisionComplete: undecided === undefined,
    ...(undecided === undefined ? {} : { whyIncomplete: undecided }),
    ensure: rendered.ensure,
    once: onceWishes(rendered, noted, rerun),
    elsewhere: (at) => parts.declared.elsewhere(key, at),
    ownerStillDeclares: (owner, at) => parts.declared.declares(owner, at) !== 'no',
    isAgent: (object) => parts.isAgent(object),
    namespaceUsedBy: (namespace) => namespaceUser(parts.plugins.values(), key, namespace),
    ...contents,
  };
  const known: KnownWrites = {
    recorded: (at) => parts.owned.recorded(at)?.set?.fields,
    rests: (at) => parts.repairs.restsUntil(at, parts.clock.now()) !== undefined,
  };
  const tasksOf = (plan: PluginPlan) => tasksFor({ plugin, record, rendered, plan, known, open: forms, live, rerun });
  let plan = planObjects(planInput);
  let found = tasksOf(plan);
  if (input.full && found.drift.size > 0) {
    // Values may be written in more than one way (`1000m`, `1`): whether something differs, the API server knows.
    const doubtful = [...found.drift.values()].map(({ undo }) => undo);
    const { predicted } = await tryTasks(client, doubtful, NOTHING_EXPECTED);
    plan = planObjects({ ...planInput, predicted });
    found = tasksOf(plan);
  }
  const newer = left.filter(({ why }) => why !== undefined).map(({ what }) => what);
  return { state: 'planned', plan, tasks: found.tasks, newer, ...sortDrift(parts, input, drift, found) };
}

/** The drift that the tasks undo, and the drift that stays. What the watches tell of it comes first. */
function sortDrift(
  parts: Parts,
  { key, plugin, record, rendered }: LookInput,
  seen: Found,
  { tasks, drift }: Tasks,
): { repairs: Map<string, DriftEntry>; report: Map<string, DriftEntry> } {
  const repairs = new Map<string, DriftEntry>();
  const report = new Map(seen.report);
  for (const { object } of tasks) {
    const at = refKey(refOf(object));
    const entry = seen.repair.has(at) ? record.get(at) : undefined;
    const told = entry === undefined ? undefined : driftOfEntry(parts, key, plugin, at, entry, findIn(rendered)?.(at));
    const found = told ?? drift.get(at)?.entry;
    if (found !== undefined) repairs.set(at, found);
  }
  if (plugin.spec.drift.mode === 'ignore') return { repairs, report };
  for (const [at, { entry }] of drift) if (!repairs.has(at) && !report.has(at)) report.set(at, entry);
  return { repairs, report };
}

function tellLeft(parts: Parts, plugin: Plugin, left: readonly LeftDefinition[]): void {
  for (const { why } of left) {
    if (why === undefined) continue;
    parts.events.record({
      regarding: regarding(plugin),
      action: 'Apply',
      type: 'Warning',
      reason: 'NotDowngraded',
      note: why,
    });
  }
}

function openObject(
  plugin: Plugin,
  declared: KubeObject,
  live: ReadonlyMap<string, KubeObject>,
  unread: ReadonlySet<KubeObject>,
): OpenObject {
  return { declared, form: formOf(plugin, declared, live.get(refKey(refOf(declared)))), unread: unread.has(declared) };
}

function ranAsDeclared({ record, rendered }: LookInput, at: string): boolean {
  const entry = record.get(at);
  return entry !== undefined && hasRun(entry, rendered.once.get(at));
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
