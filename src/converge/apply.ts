import {
  describeRef,
  EspalierError,
  isError,
  type Json,
  type KubeObject,
  type ObjectRef,
  refKey,
  refOf,
} from '../api/index.ts';
import type { ApplyOptions, KubeClient } from '../cluster/client.ts';
import { withoutDeployers } from '../plan/deployers.ts';
import { formerManager, managerFor } from '../plan/manager.ts';
import { settleAll } from './limit.ts';

export const PARALLEL_WRITES = 48;
const MOST_TRIES = 5;

/**
 * The API server looks for fields that it does not know in order to warn of them, which is a fifth of what a small write
 * costs it. What it does with them is the same. Plans and dry runs, which tell the warnings, let it look.
 */
export const UNHEARD = { fieldValidation: 'Ignore' } as const;

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
  /** It was nobody's until now: tools that installed it before us no longer hold its fields. */
  adopts?: boolean;
  /** Nobody has looked whether it exists: to be created, and left alone where it is there already (law 7). */
  onlyNew?: boolean;
  /** It was there, is gone, and gets another UID. */
  isAnew?: boolean;
  /** UID of what has its name, and goes first: see `Outcome`. Goes with `onlyNew`. */
  replaces?: string;
  /** For an object that names a resourceVersion: what to send instead when the live object has changed since. */
  renew?(live: KubeObject): KubeObject;
}

export type ApplyOutcome =
  /** `fields`: hash of what the API server holds in our name now. */
  | { outcome: 'written'; object: KubeObject; fields: string }
  | { outcome: 'conflict'; conflicts: readonly FieldConflict[] }
  /** It was to be new, and exists: nothing was written. */
  | { outcome: 'exists' }
  | { outcome: 'failed'; error: unknown };

export interface ApplyHooks {
  beginWrite(key: string): void;
  cancelWrite(key: string): void;
  /** Runs for each object as its answer arrives. */
  written(object: KubeObject): { fields: string };
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
      return { outcome: 'written', object, ...hooks.written(object) };
    } catch (error) {
      hooks.cancelWrite(key);
      if (task.onlyNew === true && isError(error, 'KubeConflict', 'KubeApplyConflict')) return { outcome: 'exists' };
      if (isError(error, 'KubeApplyConflict')) return { outcome: 'conflict', conflicts: conflictsOf(error) };
      return { outcome: 'failed', error };
    }
  });
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value : { outcome: 'failed', error: result.reason },
  );
}

/**
 * An apply that names a version is refused where the live object has another one, and creates the object where there is
 * none. No object ever has this version: the API server's first write of all is later.
 */
const BEFORE_ALL_OBJECTS = '1';

function asNew(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: BEFORE_ALL_OBJECTS } };
}

/** Sends one object, taking over what it may. Also for dry runs, so that a plan says what a run does. */
export async function applyOne(
  client: KubeClient,
  task: ApplyTask,
  options: Pick<ApplyOptions, 'dryRun' | 'onWarning'> = {},
): Promise<KubeObject> {
  if (task.replaces !== undefined) await removeFirst(client, refOf(task.object), task.replaces);
  for (let object = task.onlyNew === true ? asNew(task.object) : task.object, tries = 1; ; tries++) {
    try {
      return await applyOnce(client, task, object, options);
    } catch (error) {
      // Somebody's status write is enough for that, so it happens all the time while a workload starts.
      const { renew } = task;
      if (!isError(error, 'KubeConflict') || renew === undefined || tries === MOST_TRIES) throw error;
      const live = await client.get(refOf(object));
      if (live === undefined) throw error;
      object = renew(live);
    }
  }
}

async function removeFirst(client: KubeClient, ref: ObjectRef, uid: string): Promise<void> {
  await client.delete(ref, { uid, propagation: 'Background' });
  const left = await client.get(ref);
  if (left?.metadata.uid !== uid) return;
  const { finalizers = [] } = left.metadata;
  const held = finalizers.length === 0 ? '' : ` (held by finalizers ${finalizers.join(', ')})`;
  throw new EspalierError('ApplyFailed', `${describeRef(ref)} is still being deleted${held}; it is created after that`);
}

async function applyOnce(
  client: KubeClient,
  task: ApplyTask,
  object: KubeObject,
  options: Pick<ApplyOptions, 'dryRun' | 'onWarning'>,
): Promise<KubeObject> {
  const heard = options.onWarning !== undefined || options.dryRun === true;
  const ours = { ...options, ...(heard ? {} : UNHEARD), fieldManager: managerFor(object) };
  try {
    return await handOver(client, await client.apply(object, { ...ours, force: task.force }), ours, task);
  } catch (error) {
    const mayTake = task.onlyNew !== true && isError(error, 'KubeApplyConflict') && task.mayTake(conflictsOf(error));
    if (!mayTake) throw error;
    return await handOver(client, await client.apply(object, { ...ours, force: true }), ours, task);
  }
}

/**
 * An object that changes sides between a Helm release and plain objects changes its field manager. What the former one
 * still holds of ours is given up, or nobody could ever remove those fields.
 */
async function handOver(
  client: KubeClient,
  written: KubeObject,
  options: ApplyOptions,
  task: ApplyTask,
): Promise<KubeObject> {
  if (options.dryRun === true) return written;
  if (task.adopts === true) return await dismissDeployers(client, written, options.fieldManager);
  const former = formerManager(written, options.fieldManager);
  if (former === undefined) return written;
  const { apiVersion, kind, metadata } = written;
  const { name, namespace } = metadata;
  const nothing = { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
  return await client.apply(nothing, { fieldManager: former });
}

/** No value changes by that. Whoever writes the object at the same time makes us look again. */
async function dismissDeployers(client: KubeClient, written: KubeObject, fieldManager: string): Promise<KubeObject> {
  let object = written;
  for (let tries = 1; ; tries++) {
    const value = withoutDeployers(object.metadata.managedFields, fieldManager);
    if (value === undefined) return object;
    const { resourceVersion = '' } = object.metadata;
    const body = [
      { op: 'replace', path: '/metadata/managedFields', value: value as unknown as Json },
      { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ];
    try {
      return await client.patch(refOf(object), body, { type: 'json', fieldManager });
    } catch (error) {
      const live = isError(error, 'KubeConflict') && tries < MOST_TRIES ? await client.get(refOf(object)) : undefined;
      if (live === undefined) throw error;
      object = live;
    }
  }
}

export function conflictsOf(error: EspalierError): readonly FieldConflict[] {
  const { conflicts } = error.data;
  return Array.isArray(conflicts) ? (conflicts as FieldConflict[]) : [];
}
