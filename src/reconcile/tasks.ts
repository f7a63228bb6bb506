import { type DriftEntry, describeRef, type InventoryEntry, type JsonObject, type KubeObject } from '../api/index.ts';
import type { ApplyTask } from '../converge/apply.ts';
import { ourFields } from '../converge/owned.ts';
import { driftByValue } from '../plan/drift.ts';
import { hashFields } from '../plan/fields.ts';
import { type AppliedForm, withoutIgnored } from '../plan/ignore.ts';
import { managerFor } from '../plan/manager.ts';
import type { ObjectPlan, PluginPlan } from '../plan/object-plan.ts';
import { wereOurs } from '../plan/take-back.ts';
import { describeWriters, GONE } from './find-drift.ts';
import type { LookInput } from './look.ts';

export interface TasksInput extends Pick<LookInput, 'plugin' | 'record' | 'rendered'> {
  plan: PluginPlan;
  known: KnownWrites;
  /** The objects that were looked at, by reference key. */
  open: ReadonlyMap<string, OpenObject>;
  live: ReadonlyMap<string, KubeObject>;
  /** What runs once, and is asked to run again whatever `drift.mode` says. */
  rerun?: ReadonlySet<string>;
}

/** What a process knows of its own writes. One that has made none, such as the command line, knows nothing. */
export interface KnownWrites {
  /** The fields that our last apply left in our name. */
  recorded(key: string): JsonObject | undefined;
  /** Repairs of the object rest, because somebody keeps writing it back. */
  rests(key: string): boolean;
}

export const NO_WRITES: KnownWrites = { recorded: () => undefined, rests: () => false };

export interface OpenObject {
  declared: KubeObject;
  /** Without what others may change. */
  form: AppliedForm;
  /** Nobody looked whether it exists. */
  unread?: boolean;
}

export interface Tasks {
  tasks: ApplyTask[];
  /** Drift by object, among it what no watch told of, and what would undo it. Where repairs are wanted, that is a task. */
  drift: Map<string, { entry: DriftEntry; undo: ApplyTask }>;
}

/** What of a plan is sent. What is declared as it was at our last apply is written only to repair it. */
export function tasksFor(input: TasksInput): Tasks {
  const { plan, record, rendered, open, live, plugin, known, rerun } = input;
  const result: Tasks = { tasks: [], drift: new Map() };
  for (const step of plan.objects) {
    const object = open.get(step.key);
    if (object === undefined || !writes(step)) continue;
    const [entry, there] = [record.get(step.key), live.get(step.key)];
    const replaces = step.action === 'create' ? step.replaces : undefined;
    // What has another one's labels is taken over, though nothing of it differs from what is on record.
    const isRepair =
      replaces === undefined &&
      step.action !== 'adopt' &&
      rerun?.has(step.key) !== true &&
      isAsRecorded(entry, rendered.hashes.get(step.key), there);
    const task: ApplyTask = {
      object: formToSend(object.form),
      force: isRepair || step.action === 'adopt' || plugin.spec.apply.force,
      mayTake: (conflicts) =>
        wereOurs({
          conflicts,
          sameDeclaration: isRepair,
          recordedHash: entry?.fields,
          recorded: known.recorded(step.key),
          managedFields: there?.metadata.managedFields,
          manager: managerFor(object.form.object),
        }),
    };
    if (step.action === 'adopt' && step.from === undefined) task.adopts = true;
    if (object.unread === true || replaces !== undefined) task.onlyNew = true;
    if (replaces !== undefined) task.replaces = replaces.uid;
    if (step.action === 'create' && entry?.uid !== undefined) task.isAnew = true;
    if (object.form.onlyAgainst !== undefined) task.renew = (now) => formToSend(formOf(plugin, object.declared, now));
    if (isRepair) {
      const drift = driftIn(step, object.form, there);
      if (drift !== undefined) result.drift.set(step.key, { entry: drift, undo: task });
      else if (there !== undefined && hashFields(ourFields(there).fields) === entry.fields) continue;
      if (plugin.spec.drift.mode !== 'repair' || known.rests(step.key)) continue;
    }
    result.tasks.push(task);
  }
  return result;
}

/** What is sent of a declared object: without what others may change. */
export function formOf(plugin: LookInput['plugin'], declared: KubeObject, live: KubeObject | undefined): AppliedForm {
  return withoutIgnored(declared, live, plugin.spec.drift.ignore ?? [], managerFor(declared));
}

function writes(step: ObjectPlan): boolean {
  return (
    step.action === 'create' ||
    step.action === 'change' ||
    step.action === 'adopt' ||
    (step.action === 'unchanged' && step.isOurs && step.once === undefined)
  );
}

/** Declared as at our last apply, of this very object: every declared field was ours then. */
function isAsRecorded(
  entry: InventoryEntry | undefined,
  hash: string | undefined,
  live: KubeObject | undefined,
): entry is InventoryEntry {
  if (entry?.uid === undefined || entry.applied === undefined || entry.applied !== hash) return false;
  return live === undefined || live.metadata.uid === entry.uid;
}

function driftIn(step: ObjectPlan, { object }: AppliedForm, live: KubeObject | undefined): DriftEntry | undefined {
  const name = describeRef(step.ref);
  if (live === undefined) return { object: name, fields: [GONE] };
  if (step.action !== 'change') return undefined;
  const { paths, by } = driftByValue({ declared: object, live, manager: managerFor(object), ignore: [] });
  const fields = paths.length > 0 ? paths : step.fields.map(({ path }) => path);
  return { object: name, fields, ...(by.length === 0 ? {} : { by: describeWriters(by) }) };
}

function formToSend({ object, onlyAgainst }: AppliedForm): KubeObject {
  return onlyAgainst === undefined
    ? object
    : { ...object, metadata: { ...object.metadata, resourceVersion: onlyAgainst } };
}
