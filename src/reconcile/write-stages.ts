import { type KubeObject, refKey, refOf } from '../api/index.ts';
import { type ApplyTask, applyAll } from '../converge/apply.ts';
import { type Inventory, settled } from '../converge/inventory.ts';
import { byStage, isBuiltIn } from '../converge/stages.ts';
import { isRunOver } from '../plan/once.ts';
import { asAccount } from './account.ts';
import type { Facts } from './facts.ts';
import type { Parts } from './parts.ts';
import { type Problem, problemFrom } from './problems.ts';
import { isDeclared } from './records.ts';
import { awaitSettled, awaitWatched } from './stage-wait.ts';

export interface StagesInput {
  key: string;
  facts: Facts;
  tasks: readonly ApplyTask[];
  /** What was on record when this look began. */
  before: Inventory;
  /** With the intent. */
  record: Inventory;
  /** Hash of each declared object. */
  hashes: ReadonlyMap<string, string>;
  signal: AbortSignal;
}

export interface StagesResult {
  /** With what was written. */
  record: Inventory;
  problems: Problem[];
  /** Objects of kinds that the API server does not serve yet. */
  unserved: Problem[];
  /** Webhooks could not be applied yet: what serves them is not healthy. */
  postponed: boolean;
  /** Something exists that was taken to be absent: everything is to be looked at again, now that this is known. */
  surprised: boolean;
}

/** Sends the tasks stage by stage. What one object is refused for holds back neither its neighbours nor the record of what was written. */
export async function writeStages(
  parts: Parts,
  { key, facts, tasks, before, record, hashes, signal }: StagesInput,
): Promise<StagesResult> {
  const result: StagesResult = {
    record: new Map(record),
    problems: [],
    unserved: [],
    postponed: false,
    surprised: false,
  };
  const client = asAccount(parts.client, facts.account);
  const taskOf = new Map(tasks.map((task) => [task.object, task]));
  for (const { stage, objects } of byStage(tasks.map((task) => task.object))) {
    signal.throwIfAborted();
    result.postponed = stage === 'webhooks' && isAnySick(parts, key, result.record, objects);
    if (result.postponed) break;
    const staged = objects.flatMap((object) => taskOf.get(object) ?? []);
    await awaitWatched(parts, objects, signal);
    const outcomes = await applyAll(client, staged, parts.owned, signal);
    outcomes.forEach((outcome, index) => {
      const object = staged[index]?.object;
      if (object === undefined) return;
      const at = refKey(refOf(object));
      if (outcome.outcome === 'written') {
        const { once } = result.record.get(at) ?? {};
        result.record.set(at, settled(outcome.object, hashes.get(at) ?? '', outcome.fields, once));
      } else if (outcome.outcome === 'exists') {
        parts.taken.add(key, at);
        result.surprised = true;
        // Meant to become ours, but it never was.
        if (!before.has(at)) result.record.delete(at);
      } else sortOut(result, problemFrom(refOf(object), outcome));
      if (outcome.outcome === 'written' && !isBuiltIn(object)) parts.watches.served(object);
    });
    if (result.surprised) break;
    if (stage === 'definitions') await definitionsReady(parts, objects, result, signal);
    if (result.problems.some((problem) => problem.fatal === true)) break;
  }
  return result;
}

function sortOut(result: StagesResult, problem: Problem): void {
  if (problem.code === 'KubeKindUnknown') result.unserved.push(problem);
  else result.problems.push(problem);
}

async function definitionsReady(
  parts: Parts,
  objects: readonly KubeObject[],
  result: StagesResult,
  signal: AbortSignal,
): Promise<void> {
  const why = await awaitSettled(parts, objects, signal);
  parts.watches.retry();
  const [first] = objects;
  if (why !== undefined && first !== undefined)
    result.problems.push({ ref: refOf(first), code: 'HealthTimedOut', message: why, retry: true });
}

/** Webhook configurations and aggregated APIs wait for what serves them: else they would refuse everything meanwhile. */
function isAnySick(parts: Parts, key: string, record: Inventory, later: readonly KubeObject[]): boolean {
  const laterKeys = new Set(later.map((object) => refKey(refOf(object))));
  return [...record].some(([at, entry]) => {
    if (laterKeys.has(at) || entry.applied === undefined || !isDeclared(entry) || isRunOver(entry)) return false;
    const live = parts.owned.get(at);
    return live?.plugin === key && live.health.state !== 'healthy';
  });
}
