import { describeRef, isError, type ObjectRef, refKey, refOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type ApplyTask, applyOne, conflictsOf } from '../converge/apply.ts';
import { settleAll } from '../converge/limit.ts';
import type { Prediction } from '../plan/plan-input.ts';

const PARALLEL_DRY_RUNS = 24;

/** What does not exist yet and will, before the tasks are carried out. */
export interface Expected {
  namespace(name: string): boolean;
  kind(ref: ObjectRef): 'as before' | 'changed' | undefined;
  /** Somebody wants to see the rest too, where the API server can't decide about an object because of a webhook that is down. */
  isForPeople?: boolean;
}

export interface Tried {
  /** What the API server would make of each object, by reference key; absent where it can't be tried yet. */
  predicted: Map<string, Prediction>;
  /** What the API server says beside its answers: deprecated versions, pods that a security profile would refuse. */
  warnings: string[];
}

/** Carries tasks out as dry runs: defaulting, admission, conflicts and refusals included. Nothing is written. */
export async function tryTasks(client: KubeClient, tasks: readonly ApplyTask[], expected: Expected): Promise<Tried> {
  const tried: Tried = { predicted: new Map(), warnings: [] };
  const said = new Set<string>();
  const results = await settleAll(tasks, PARALLEL_DRY_RUNS, async (task): Promise<Prediction | undefined> => {
    const ref = refOf(task.object);
    // What has its name stands in the way of a try.
    if (task.replaces !== undefined) return undefined;
    const onWarning = (text: string): void => void said.add(`${describeRef(ref)}: ${text}`);
    try {
      return await applyOne(client, task, { dryRun: true, onWarning });
    } catch (error) {
      if (isError(error, 'KubeApplyConflict')) return { conflicts: conflictsOf(error) };
      if (isError(error, 'KubeKindUnknown'))
        return expected.kind(ref) === undefined ? { refused: error.message } : undefined;
      if (isError(error, 'KubeInvalid') && expected.kind(ref) === 'changed') {
        said.add(
          `${describeRef(ref)} could not be tried, for the definition of its kind changes too: ${error.message}`,
        );
        return undefined;
      }
      if (isError(error, 'KubeNotFound') && expected.namespace(ref.namespace ?? '')) return undefined;
      if (isError(error, 'KubeInvalid', 'KubeForbidden', 'KubeNotFound')) return { refused: error.message };
      if (expected.isForPeople === true && isError(error, 'KubeServerError') && error.data.status === 500)
        return { refused: error.message };
      throw error;
    }
  });
  results.forEach((result, index) => {
    if (result.status === 'rejected') throw result.reason;
    const task = tasks[index];
    if (task !== undefined && result.value !== undefined) tried.predicted.set(refKey(refOf(task.object)), result.value);
  });
  tried.warnings = [...said].sort();
  return tried;
}
