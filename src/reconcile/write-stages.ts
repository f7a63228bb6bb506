import { API_VERSION, isError, type KubeObject, refKey, refOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type ApplyOutcome, type ApplyTask, applyAll } from '../converge/apply.ts';
import { type Inventory, settled } from '../converge/inventory.ts';
import { byStage, isBuiltIn } from '../converge/stages.ts';
import { isRunOver } from '../plan/once.ts';
import { sleep } from '../runtime/clock.ts';
import { asAccount } from './account.ts';
import type { Facts } from './facts.ts';
import type { Parts } from './parts.ts';
import { type Problem, problemFrom } from './problems.ts';
import { isDeclared } from './records.ts';
import { awaitSettled, awaitWatched } from './stage-wait.ts';
import { keyOf } from './store.ts';

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
  /** Objects of kinds that the API server does not serve yet, or not as they are declared. */
  unserved: Problem[];
  /** Webhooks could not be applied yet: what serves them is not healthy. */
  postponed: boolean;
  /** Something exists that was taken to be absent: everything is to be looked at again, now that this is known. */
  surprised: boolean;
}

const FIRST_AGAIN_MS = 50;
const LONGEST_AGAIN_MS = 1_000;

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
    const outcomes = await applyStage(parts, client, staged, signal);
    for (const [index, outcome] of outcomes.entries()) {
      const object = staged[index]?.object;
      if (object === undefined) continue;
      const at = refKey(refOf(object));
      if (outcome.outcome === 'written') {
        const { once } = result.record.get(at) ?? {};
        result.record.set(at, settled(outcome.object, hashes.get(at) ?? '', outcome.fields, once));
      } else if (outcome.outcome === 'exists') {
        parts.taken.add(key, at);
        result.surprised = true;
        // Meant to become ours, but it never was.
        if (!before.has(at)) result.record.delete(at);
      } else await sortOut(parts, key, result, problemFrom(refOf(object), outcome));
      if (outcome.outcome !== 'written') continue;
      if (!isBuiltIn(object)) parts.watches.served(object);
      parts.definitions.written(outcome.object);
      noteOwnKind(parts, outcome.object);
    }
    if (result.surprised) break;
    if (stage === 'definitions') await definitionsReady(parts, objects, result, signal);
    if (result.problems.some((problem) => problem.fatal === true)) break;
  }
  return result;
}

/** Who depends on a nested Plugin must not go by what it was before until its watch says that it has changed. */
function noteOwnKind(parts: Parts, object: KubeObject): void {
  if (object.apiVersion !== API_VERSION) return;
  const store = parts.storeFor(object.kind);
  if (store?.get(keyOf(object)) !== undefined) store.put(object);
}

/** What a schema refuses that has just changed is tried again: for a moment the API server goes by the old one. */
async function applyStage(
  parts: Parts,
  client: KubeClient,
  tasks: readonly ApplyTask[],
  signal: AbortSignal,
): Promise<ApplyOutcome[]> {
  const outcomes = await applyAll(client, tasks, parts.owned, signal);
  for (let waitMs = FIRST_AGAIN_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_AGAIN_MS)) {
    const early = tasks
      .map((task, index) => ({ task, index }))
      .filter(({ task, index }) => isMisfit(outcomes[index]) && parts.definitions.isSettling(task.object));
    if (early.length === 0) return outcomes;
    await sleep(waitMs, { clock: parts.clock, signal });
    const again = await applyAll(
      client,
      early.map(({ task }) => task),
      parts.owned,
      signal,
    );
    again.forEach((outcome, at) => {
      outcomes[early[at]?.index ?? 0] = outcome;
    });
  }
}

function isMisfit(outcome: ApplyOutcome | undefined): boolean {
  return outcome?.outcome === 'failed' && isError(outcome.error, 'KubeInvalid');
}

async function sortOut(parts: Parts, key: string, result: StagesResult, problem: Problem): Promise<void> {
  const { ref, code, message } = problem;
  const changes =
    code === 'KubeInvalid' && !isBuiltIn(ref) ? await parts.definitions.whoMayChange(ref, key) : undefined;
  if (changes !== undefined)
    result.unserved.push({ ...problem, message: `${message}; waits for ${changes}`, retry: true });
  else if (code === 'KubeKindUnknown') result.unserved.push(problem);
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
