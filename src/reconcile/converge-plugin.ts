import {
  ANNOTATION,
  CONDITION,
  type DriftEntry,
  findCondition,
  type Plugin,
  type Revision,
  refKey,
  refOf,
} from '../api/index.ts';
import type { ApplyTask } from '../converge/apply.ts';
import { type Intent, type Inventory, intend, sameInventory, without } from '../converge/inventory.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import {
  afterFailure,
  concludeRelease,
  hooksVerdict,
  leaveRelease,
  releaseWaits,
  splitTasks,
} from './converge-release.ts';
import type { Facts } from './facts.ts';
import { ensureFinalizer } from './finalizer.ts';
import { driftWhileWaiting } from './find-drift.ts';
import { isTaken } from './handover.ts';
import { heldOutcome, holdFor } from './holds.ts';
import type { KnownInputs } from './inputs.ts';
import { type Look, lookAtCluster } from './look.ts';
import { nestedLosses, pluginsNow } from './nested-losses.ts';
import { rootOf, syncOver } from './nesting.ts';
import { noteRuns } from './once.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import type { PluginFindings } from './plugin-status.ts';
import { failedWith, problemsOf, unservedOf } from './problems.ts';
import { comeBackFor, markLeaving, removeLeaving, wakeTakers } from './prune-plugin.ts';
import { PARTLY } from './records.ts';
import { regarding } from './regarding.ts';
import { render, renderDeclared } from './render-declared.ts';
import type { Rendered } from './rendered.ts';
import { openRevision, prepareRelease, type ReleaseRun } from './run-release.ts';
import { saveStatus } from './save-status.ts';
import { attemptOf, withHealth } from './settle.ts';
import { keyOf } from './store.ts';
import { touchesOf } from './touches.ts';
import type { Waits } from './waits.ts';
import { writeStages } from './write-stages.ts';

/** How long a kind that is not served yet is no failure, and how often to look meanwhile. */
const UNSERVED_GRACE_MS = 15_000;
const UNSERVED_RETRY_MS = 250;
/**
 * A new Plugin of so few objects says how it is once they are written, not before as well: the intent is on record all the
 * same, and without conditions it costs the API server half.
 */
const BRIEF_TASKS = 20;

export interface ConvergeInput {
  key: string;
  plugin: Plugin;
  facts: Facts;
  inputs: KnownInputs;
  record: Inventory;
  signal: AbortSignal;
  /** The inputs are not those that are applied: what it waits for comes first. A repair waits for nothing. */
  isNew: boolean;
  /** Compare every object with the cluster, whatever the watches say. */
  full: boolean;
  /** Somebody asks for another try of what runs once. */
  rerun: boolean;
  /** Why nothing may be installed; what declares nothing goes through. */
  refusal: PluginVerdict | undefined;
  waits(): Waits;
}

/**
 * Brings the cluster to what the Plugin declares: render, look, plan, record the intent, write, prune. Every step can
 * be cut off anywhere and taken up again by the next call.
 */
export async function convergePlugin(parts: Parts, input: ConvergeInput): Promise<PluginVerdict> {
  const { key, plugin, facts, inputs, record, signal } = input;
  const rendering = { key, plugin, facts, inputs, signal };
  // Who is refused declares nothing: others would leave to it what it never takes.
  if (input.refusal !== undefined && (await render(parts, rendering)).whyEmpty === undefined) return input.refusal;
  const rendered = await renderDeclared(parts, rendering);
  if (input.isNew) {
    const waits = input.waits();
    if (waits.for.length > 0) return { ...waitingFor(parts, waits), findings: driftFindings(parts, input) };
  }
  const { full, rerun } = input;
  const look = await lookAtCluster(parts, { key, plugin, facts, record, rendered, full, rerun });
  if (look.state === 'wait')
    return { outcome: { phase: 'Progressing', message: look.why }, findings: {}, againInMs: 2_000 };
  const commit = commitOf(parts, plugin);
  const head = facts.sync === undefined ? undefined : parts.declared.headOf(keyOf(facts.sync));
  const losses = nestedLosses({ plan: look.plan, record, objects: rendered.objects }, pluginsNow(parts));
  const hold = holdFor({ plugin, facts, record, rendered, plan: look.plan, losses, isNew: input.isNew, commit, head });
  if (input.isNew && head !== undefined)
    parts.carried.note(key, inputs.key, head, touchesOf(key, look.plan, rendered.hashes, record));
  if (hold !== undefined) return { outcome: heldOutcome(hold), findings: driftFindings(parts, input) };
  return await carryOut(parts, input, rendered, look);
}

function driftFindings(parts: Parts, { key, plugin, record }: ConvergeInput): PluginFindings {
  return { drift: driftWhileWaiting(parts, key, plugin, record) };
}

async function carryOut(
  parts: Parts,
  input: ConvergeInput,
  rendered: Rendered,
  look: Extract<Look, { state: 'planned' }>,
): Promise<PluginVerdict> {
  const { key, plugin, facts, inputs } = input;
  const { plan, tasks } = look;
  // What is applied is only put right; a revision of a release is made for new inputs alone.
  const prepared = input.isNew ? await prepareRelease(parts, plugin, facts, inputs.key, rendered) : undefined;
  if (prepared?.state === 'refused') throw prepared.error;
  if (prepared?.state === 'wait') return releaseWaits(prepared, driftFindings(parts, input));
  const run = prepared?.run;
  const intended = intend(
    without(input.record, forgotten(parts, key, plan)),
    tasks.map((task) => intentOf(task, rendered)),
    rendered.hashes,
  );
  const marked = markLeaving(intended, plan);
  wakeTakers(parts, plan);
  parts.watches.use(key, [...marked.values()]);
  const attempted = attemptOf(plugin, inputs.key);
  const intent: PluginFindings = {
    inventory: [...marked.values()],
    ...(input.isNew ? { attempted, ...revisionBegun(plugin) } : {}),
    ...(run === undefined ? {} : { release: run.intent }),
  };
  await ensureFinalizer(parts, plugin);
  // What goes on, where a hook or a definition was waited for, has said so before: to say it again would undo what it waits for.
  const hasBegun = run === undefined ? plugin.status?.attempted?.key === inputs.key : run.record !== undefined;
  const goesOn = hasBegun && plugin.status?.phase === 'Progressing';
  const isNews = !sameInventory(marked, input.record) || (run !== undefined && run.record === undefined);
  if (isNews || (tasks.length > 0 && !goesOn)) {
    const isBrief = plugin.status?.phase === undefined && tasks.length <= BRIEF_TASKS && run === undefined;
    const message = `applying ${tasks.length} of ${rendered.objects.length} objects`;
    const outcome = input.isNew && !isBrief ? ({ phase: 'Progressing', message } as const) : undefined;
    // Law 3: on record before the first write.
    const isTogether = isBrief && parts.crowd.isThere && (await parts.intents.record(plugin, attempted, marked));
    const recorded = isTogether ? 'saved' : await saveStatus(parts, key, { outcome, findings: intent });
    if (recorded === 'gone') return { outcome: undefined, findings: {} };
  }
  if (run === undefined) return await writeObjects(parts, input, rendered, look, marked);
  const verdict = await writeObjects(parts, input, rendered, look, marked, run);
  return isFailure(verdict) ? await afterFailure(plugin, run, inputs.key, verdict, inputs.secrets) : verdict;
}

function intentOf({ object, replaces, isAnew }: ApplyTask, { once }: Rendered): Intent {
  const ref = refOf(object);
  return { ref, once: once.get(refKey(ref)), isAnew: replaces !== undefined || isAnew === true };
}

/** What was applied holds no longer as a whole. A first install takes nothing's place. */
function revisionBegun({ status }: Plugin): Pick<PluginFindings, 'revision'> {
  const { revision } = status ?? {};
  return revision?.key === undefined ? {} : { revision: { ...revision, key: PARTLY } };
}

function isFailure({ outcome, error }: PluginVerdict): boolean {
  return outcome?.phase === 'Failed' && error !== undefined;
}

/** Everything from the first write on. For a release its hooks run before and after, and its record comes first and last. */
async function writeObjects(
  parts: Parts,
  input: ConvergeInput,
  rendered: Rendered,
  look: Extract<Look, { state: 'planned' }>,
  marked: Inventory,
  run?: ReleaseRun,
): Promise<PluginVerdict> {
  const { key, plugin, facts, inputs, signal } = input;
  const attempted = attemptOf(plugin, inputs.key);
  const stages = { key, facts, before: input.record, hashes: rendered.hashes, signal };
  const { early, later } = run === undefined ? { early: [], later: look.tasks } : splitTasks(look.tasks, rendered);
  const first = await writeStages(parts, { ...stages, tasks: early, record: marked });
  if (run !== undefined && first.problems.length + first.unserved.length === 0 && !first.surprised) {
    const findings = { inventory: [...first.record.values()], attempted };
    if (!(await openRevision(parts, plugin, run)))
      return { outcome: { phase: 'Progressing', message: 'the release has just changed' }, findings, againInMs: 0 };
    const waits = await hooksVerdict(parts, run, 'pre', findings);
    if (waits !== undefined) return waits;
  }
  const written =
    first.surprised || first.problems.length > 0
      ? first
      : await writeStages(parts, { ...stages, tasks: later, record: first.record });
  written.unserved.push(...unservedOf(rendered));
  if (look.repairs.size > 0) noteRepairs(parts, plugin, look);
  const drift = driftLeft(parts, look);
  const findings = { inventory: [...written.record.values()], drift, attempted, notDowngraded: look.newer };
  if (written.surprised) return { outcome: undefined, findings, againInMs: 0 };
  const problems = [...problemsOf(look.plan), ...written.problems];
  const [unserved] = written.unserved;
  if (problems.length > 0) return failedWith([...problems, ...written.unserved], findings);
  if (unserved !== undefined) {
    // Right after its definition was established, a kind may need a moment to be served.
    if (!isYoung(parts, key)) return failedWith(written.unserved, findings);
    return { outcome: { phase: 'Progressing', message: unserved.message }, findings, againInMs: UNSERVED_RETRY_MS };
  }
  // With what was written to its status meanwhile.
  const current = parts.plugins.get(key) ?? plugin;
  if (written.postponed) return awaitServers(parts, key, current, written.record, findings, inputs.key);
  const removal = await removeLeaving(parts, key, plugin, written.record);
  const after = noteRuns(parts, removal.record);
  const removed = { ...findings, inventory: [...after.values()] };
  const unfinished = run === undefined ? undefined : await concludeRelease(parts, plugin, run, removed);
  if (unfinished !== undefined) return unfinished;
  const left = await leaveRelease(parts, current);
  const revision = revisionOf(commitOf(parts, plugin), rendered, inputs.key);
  const complete = { ...removed, ...left, revision };
  const applied = { ...current, status: { ...current.status, revision, notDowngraded: [...look.newer] } };
  const verdict = withHealth(parts, key, applied, after, complete, removal.still, inputs.key);
  return comeBackFor(verdict, removal);
}

/** Webhooks and aggregated APIs wait until everything else is healthy, and no longer than that may take. */
function awaitServers(
  parts: Parts,
  key: string,
  plugin: Plugin,
  record: Inventory,
  findings: PluginFindings,
  inputsKey: string,
): PluginVerdict {
  const written = new Map([...record].filter(([, entry]) => entry.applied !== undefined));
  const { outcome, againInMs } = withHealth(parts, key, plugin, written, findings, [], inputsKey);
  if (outcome === undefined || !('message' in outcome) || outcome.phase === 'Ready')
    return { outcome: { phase: 'Progressing', message: 'its webhooks come next' }, findings, againInMs: 0 };
  const told = { ...outcome, message: `${outcome.message}; its webhooks are applied after that` };
  return { outcome: told, findings, ...(againInMs === undefined ? {} : { againInMs }) };
}

/** A new revision of an object takes back what was changed by hand, whatever the drift mode. */
function driftLeft(parts: Parts, { report, tasks }: Extract<Look, { state: 'planned' }>): DriftEntry[] {
  const sent = new Set(tasks.map((task) => refKey(refOf(task.object))));
  return [...report].filter(([at]) => !sent.has(at) || parts.owned.hasDrifted(at)).map(([, entry]) => entry);
}

/** Whether the Plugin began to make progress just now, or is about to say so. */
function isYoung(parts: Parts, key: string): boolean {
  const since = findCondition(parts.plugins.get(key)?.status?.conditions, CONDITION.Reconciling)?.lastTransitionTime;
  return since === undefined || parts.clock.now() - Date.parse(since) < UNSERVED_GRACE_MS;
}

function forgotten(parts: Parts, key: string, plan: PluginPlan): string[] {
  const keys = plan.objects
    .filter((object) => {
      if (object.action === 'moved') return isTaken(parts, key, object.ref, object.to);
      return isAnothers(object) || (object.action === 'keep' && object.forget);
    })
    .map((object) => object.key);
  return [...keys, ...plan.gone.map(refKey)];
}

/** Several Plugins asked for one namespace at once, and another of them has it now. */
function isAnothers(object: PluginPlan['objects'][number]): boolean {
  return object.action === 'unchanged' && !object.isOurs;
}

/** The commit that a Plugin is made from: of its own repository, the one that its Sync says, or that of what it is nested in. */
function commitOf(parts: Parts, plugin: Plugin): string | undefined {
  const declared = plugin.metadata.annotations?.[ANNOTATION.commit];
  const known = parts.ownSources.known(plugin)?.commit ?? plugin.spec.source.git?.commit ?? declared;
  const root = known === undefined ? rootOf(plugin, (key) => parts.plugins.get(key)) : undefined;
  return root === undefined || root === plugin ? known : commitOf(parts, root);
}

function revisionOf(commit: string | undefined, rendered: Rendered, key: string): Revision {
  const revision: Revision = { key, ...rendered.version };
  if (commit !== undefined) {
    revision.commit = commit;
    revision.version ??= commit.slice(0, 10);
  }
  return revision;
}

function waitingFor(parts: Parts, { for: names, reason, until, overdue, circle }: Waits): PluginVerdict {
  if (circle !== undefined) {
    const never = { phase: 'Failed', reason: 'DependencyCycle', message: circle, userMustAct: true } as const;
    return { outcome: { ...never, applied: false, waitingFor: names }, findings: {} };
  }
  const again = until === undefined ? {} : { againInMs: Math.max(1_000, until - parts.clock.now()) };
  if (overdue.length === 0) return { outcome: { phase: 'Waiting', reason, waitingFor: names }, findings: {}, ...again };
  const message = `${overdue.join('; ')}; it goes on waiting`;
  const late = { phase: 'Failed', reason: 'GateTimedOut', message, userMustAct: true, applied: false } as const;
  return { outcome: { ...late, waitingFor: names }, findings: {}, ...again };
}

function noteRepairs(parts: Parts, plugin: Plugin, look: Extract<Look, { state: 'planned' }>): void {
  for (const [at, entry] of look.repairs) {
    if (parts.owned.get(at) === undefined || parts.owned.hasDrifted(at)) continue;
    parts.repairs.repaired(at, parts.clock.now());
    // Somebody put it back by hand; we only hold the fields again.
    if (entry.fields.length === 0) continue;
    parts.metrics.repaired('repair', entry.fields.length);
    const sync = syncOver(plugin, (key) => parts.plugins.get(key));
    if (sync !== undefined) parts.repaired.note(sync, { plugin: plugin.metadata.name, ...entry });
    const by = entry.by === undefined ? '' : ` (changed by ${entry.by})`;
    const note = `${entry.object}: ${entry.fields.join(', ')}${by}`;
    parts.events.record({ regarding: regarding(plugin), action: 'Repair', type: 'Normal', reason: 'Repaired', note });
  }
}
