import {
  describeRef,
  EspalierError,
  type InventoryEntry,
  isError,
  type KubeObject,
  messageOf,
  type ObjectRef,
  type Plugin,
  type Revision,
  refKey,
  refOf,
} from '../api/index.ts';
import { type ApplyTask, applyAll } from '../converge/apply.ts';
import { type Inventory, intend, sameInventory, settled, without } from '../converge/inventory.ts';
import { byStage, type Stage } from '../converge/stages.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import { asAccount } from './account.ts';
import type { Facts } from './facts.ts';
import { holdFor } from './holds.ts';
import type { KnownInputs } from './inputs.ts';
import { type Look, lookAtCluster } from './look.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import { markLeaving, removeLeaving } from './prune-plugin.ts';
import { regarding } from './regarding.ts';
import type { Rendered } from './rendered.ts';
import { saveStatus } from './save-status.ts';
import { withHealth } from './settle.ts';
import { awaitSettled } from './stage-wait.ts';
import { keyOf } from './store.ts';
import type { Waits } from './waits.ts';

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
  waits(): Waits;
}

/**
 * Brings the cluster to what the Plugin declares: render, look, plan, record the intent, write, prune. Every step can
 * be cut off anywhere and taken up again by the next call.
 */
export async function convergePlugin(parts: Parts, input: ConvergeInput): Promise<PluginVerdict> {
  const { key, plugin, facts, inputs, record, signal } = input;
  const rendered = await parts.rendered.get(inputs.key, () => parts.render(plugin, facts, inputs, signal));
  const news = parts.declared.setRendered(
    key,
    inputs.key,
    rendered.objects.map((object) => refKey(refOf(object))),
  );
  if (news) wakeWhoWaitsForRendering(parts, key, facts);

  if (input.isNew) {
    const waits = input.waits();
    if (waits.for.length > 0) return waitingFor(parts, waits);
  }
  const look = await lookAtCluster(parts, { key, plugin, facts, record, rendered, full: input.full });
  if (look.state === 'wait')
    return { outcome: { phase: 'Progressing', message: look.why }, findings: {}, againInMs: 2_000 };
  if (input.isNew) {
    const hold = holdFor({ plugin, facts, record, rendered, plan: look.plan });
    if (hold !== undefined) return { outcome: hold, findings: {} };
  }
  return await carryOut(parts, input, rendered, look);
}

async function carryOut(
  parts: Parts,
  input: ConvergeInput,
  rendered: Rendered,
  look: Extract<Look, { state: 'planned' }>,
): Promise<PluginVerdict> {
  const { key, plugin, facts, inputs, signal } = input;
  const { plan, tasks } = look;
  let record = intend(
    without(input.record, forgotten(plan)),
    tasks.map((task) => refOf(task.object)),
  );
  record = markLeaving(record, plan);
  parts.watches.use(key, [...record.values()]);
  const attempted = {
    key: inputs.key,
    ...(plugin.metadata.generation === undefined ? {} : { generation: plugin.metadata.generation }),
  };
  if (tasks.length > 0 || !sameInventory(record, input.record)) {
    // Law 3: on record before the first write.
    await saveStatus(parts, key, {
      outcome: input.isNew
        ? { phase: 'Progressing', message: `applying ${tasks.length} of ${rendered.objects.length} objects` }
        : undefined,
      findings: { inventory: [...record.values()], ...(input.isNew ? { attempted } : {}) },
    });
  }

  const problems = problemsOf(plan);
  const client = asAccount(parts.client, facts.account);
  let postponed: { stage: Stage; why: string } | undefined;
  for (const { stage, objects } of byStage(tasks.map((task) => task.object))) {
    signal.throwIfAborted();
    if (stage === 'webhooks') {
      const why = unhealthyBefore(parts, key, record, objects);
      if (why !== undefined) {
        postponed = { stage, why };
        break;
      }
    }
    const outcomes = await applyAll(
      client,
      objects.map((object) => taskOf(tasks, object)),
      parts.owned,
      signal,
    );
    for (const [index, result] of outcomes.entries()) {
      const object = objects[index];
      if (object === undefined) continue;
      const at = refKey(refOf(object));
      if (result.outcome === 'written') {
        record = new Map(record).set(at, entryFor(parts, result.object, rendered.hashes.get(at) ?? ''));
        if (look.repairs.has(at)) parts.repairs.repaired(at, parts.clock.now());
      } else if (result.outcome === 'conflict') {
        const fields = result.conflicts.map((one) => `${one.field} (held by ${one.manager})`).join(', ');
        problems.push({
          ref: refOf(object),
          code: 'KubeApplyConflict',
          message: `${describeRef(refOf(object))}: other managers hold ${fields}; let go there, or set spec.apply.force`,
          retry: true,
        });
      } else problems.push({ ref: refOf(object), ...describeFailure(refOf(object), result.error) });
    }
    if (stage === 'definitions') {
      const why = await awaitSettled(parts, objects, signal);
      parts.watches.retry();
      if (why !== undefined)
        problems.push({ ref: refOf(objects[0] as KubeObject), code: 'HealthTimedOut', message: why, retry: true });
    }
    if (problems.some((problem) => problem.fatal)) break;
  }
  if (look.repairs.size > 0) reportRepairs(parts, plugin, look);

  const findings = { inventory: [...record.values()] as InventoryEntry[], drift: look.report, attempted };
  if (problems.length > 0) return failedWith(problems, findings);
  if (postponed !== undefined) {
    return {
      outcome: { phase: 'Progressing', message: `${postponed.why}, before ${postponed.stage} are applied` },
      findings,
    };
  }
  const removal = await removeLeaving(parts, key, plugin, record);
  const complete = {
    ...findings,
    inventory: [...removal.record.values()],
    revision: revisionOf(plugin, rendered, inputs.key),
  };
  return withHealth(
    parts,
    key,
    { ...plugin, status: { ...plugin.status, revision: complete.revision } },
    removal.record,
    complete,
    removal.still,
    inputs.key,
  );
}

function taskOf(tasks: readonly ApplyTask[], object: KubeObject): ApplyTask {
  const task = tasks.find((one) => one.object === object);
  if (task === undefined) throw new EspalierError('Internal', `no task for ${describeRef(refOf(object))}`);
  return task;
}

function entryFor(parts: Parts, written: KubeObject, hash: string): InventoryEntry {
  const fields = parts.owned.recorded(refKey(refOf(written)))?.fields ?? '';
  return settled(written, hash, fields);
}

interface Problem {
  ref: ObjectRef;
  code: string;
  message: string;
  retry: boolean;
  fatal?: boolean;
}

function problemsOf(plan: PluginPlan): Problem[] {
  const problems: Problem[] = [];
  for (const object of plan.objects) {
    if (object.action === 'conflict')
      problems.push({
        ref: object.ref,
        code: 'OwnershipConflict',
        message: `${describeRef(object.ref)}: ${object.why}`,
        retry: true,
      });
    if (object.action === 'refused')
      problems.push({
        ref: object.ref,
        code: 'KubeInvalid',
        message: `${describeRef(object.ref)}: ${object.message}`,
        retry: false,
      });
  }
  return problems;
}

function describeFailure(ref: ObjectRef, error: unknown): Omit<Problem, 'ref'> {
  if (isError(error, 'LeaseLost', 'Aborted')) throw error;
  if (isError(error))
    return {
      code: error.code,
      message: error.message,
      retry: error.retry,
      ...(error.code === 'KubeUnreachable' ? { fatal: true } : {}),
    };
  return { code: 'ApplyFailed', message: `${describeRef(ref)}: ${messageOf(error)}`, retry: true };
}

function failedWith(problems: readonly Problem[], findings: PluginVerdict['findings']): PluginVerdict {
  const [first] = problems;
  if (first === undefined) throw new EspalierError('Internal', 'a failure without a problem');
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const userMustAct = problems.every((problem) => !problem.retry);
  const code = first.code as EspalierError['code'];
  const message = `${first.message}${more}`;
  return {
    outcome: { phase: 'Failed', reason: code, message, userMustAct, applied: false },
    findings,
    error: new EspalierError(code, message, { retry: !userMustAct }),
  };
}

/** Webhook configurations and aggregated APIs wait for what serves them: else they would refuse everything meanwhile. */
function unhealthyBefore(
  parts: Parts,
  key: string,
  record: Inventory,
  later: readonly KubeObject[],
): string | undefined {
  const laterKeys = new Set(later.map((object) => refKey(refOf(object))));
  for (const [at, entry] of record) {
    if (laterKeys.has(at) || entry.applied === undefined) continue;
    const live = parts.owned.get(at);
    if (live?.plugin === key && live.health.state !== 'healthy')
      return `waits for ${describeRef(entry)}: ${live.health.message}`;
  }
  return undefined;
}

function forgotten(plan: PluginPlan): string[] {
  const keys = plan.objects
    .filter((object) => object.action === 'moved' || (object.action === 'keep' && object.forget))
    .map((object) => object.key);
  return [...keys, ...plan.gone.map(refKey)];
}

function revisionOf(plugin: Plugin, rendered: Rendered, key: string): Revision {
  const commit = plugin.spec.source.git?.commit;
  const revision: Revision = { key, ...rendered.version };
  if (commit !== undefined) {
    revision.commit = commit;
    revision.version ??= commit.slice(0, 10);
  }
  return revision;
}

function waitingFor(parts: Parts, waits: Waits): PluginVerdict {
  const verdict: PluginVerdict = {
    outcome: { phase: 'Waiting', reason: 'DependencyNotReady', waitingFor: waits.for },
    findings: {},
  };
  return waits.until === undefined
    ? verdict
    : { ...verdict, againInMs: Math.max(1_000, waits.until - parts.clock.now()) };
}

/** Others may wait to hear what this one declares: those whose objects it may take over, and the Sync's removals. */
function wakeWhoWaitsForRendering(parts: Parts, key: string, { sync }: Facts): void {
  if (sync !== undefined) parts.wakeSync(keyOf(sync));
  for (const waiter of parts.renderWaiters.take(key)) parts.wakePlugin(waiter);
}

function reportRepairs(parts: Parts, plugin: Plugin, look: Extract<Look, { state: 'planned' }>): void {
  for (const [, entry] of look.repairs) {
    parts.metrics.repaired('repair', entry.fields.length);
    const by = entry.by === undefined ? '' : ` (changed by ${entry.by})`;
    parts.events.record({
      regarding: regarding(plugin),
      action: 'Reconcile',
      type: 'Normal',
      reason: 'Repaired',
      note: `${entry.object}: ${entry.fields.join(', ')}${by}`,
    });
  }
}
