import { type EspalierError, FIELD_MANAGER, isError, type KubeObject, refKey, refOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { settleAll } from './limit.ts';

export const PARALLEL_WRITES = 48;

export interface FieldConflict {
  field: string;
  manager: string;
}

export interface ApplyTask {
  object: KubeObject;
  /** Take fields over without asking: what drifted is ours, what is adopted becomes ours. */
  force: boolean;
  /** Decides whether fields that another manager holds may be taken over. Asked only when the API server refuses. */
  mayTake(conflicts: readonly FieldConflict[]): boolean;
}

export type ApplyOutcome =
  | { outcome: 'written'; object: KubeObject }
  | { outcome: 'conflict'; conflicts: readonly FieldConflict[] }
  | { outcome: 'failed'; error: unknown };

export interface ApplyHooks {
  beginWrite(key: string): void;
  cancelWrite(key: string): void;
  /** Runs for each object as its answer arrives. */
  written(object: KubeObject): void;
}

/**
 * Sends objects by server-side apply, many at a time, in the given order. Every object is tried: one that is refused
 * doesn't hold back the others. Answers stand in the place of their task.
 */
export async function applyAll(
  client: KubeClient,
  tasks: readonly ApplyTask[],
  hooks: ApplyHooks,
  signal: AbortSignal,
): Promise<ApplyOutcome[]> {
  const results = await settleAll(tasks, PARALLEL_WRITES, async (task): Promise<ApplyOutcome> => {
    signal.throwIfAborted();
    const key = refKey(refOf(task.object));
    hooks.beginWrite(key);
    try {
      const object = await applyOne(client, task);
      hooks.written(object);
      return { outcome: 'written', object };
    } catch (error) {
      hooks.cancelWrite(key);
      if (isError(error, 'KubeApplyConflict')) return { outcome: 'conflict', conflicts: conflictsOf(error) };
      return { outcome: 'failed', error };
    }
  });
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value : { outcome: 'failed', error: result.reason },
  );
}

async function applyOne(client: KubeClient, task: ApplyTask): Promise<KubeObject> {
  try {
    return await client.apply(task.object, { fieldManager: FIELD_MANAGER, force: task.force });
  } catch (error) {
    if (!isError(error, 'KubeApplyConflict') || !task.mayTake(conflictsOf(error))) throw error;
    return await client.apply(task.object, { fieldManager: FIELD_MANAGER, force: true });
  }
}

export function conflictsOf(error: EspalierError): readonly FieldConflict[] {
  const { conflicts } = error.data;
  return Array.isArray(conflicts) ? (conflicts as FieldConflict[]) : [];
}
