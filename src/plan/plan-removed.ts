import {
  describeRef,
  EspalierError,
  type InventoryEntry,
  type KubeObject,
  type ObjectRef,
  refKey,
} from '../api/index.ts';
import { keepRule } from './keep.ts';
import type { ObjectPlan } from './object-plan.ts';
import { describeOwner, ownerOf, terminatingOf } from './ownership.ts';
import type { PlanInput } from './plan-input.ts';

/** What happens to what is on record and no longer declared. `gone` has what does not exist any more. */
export function planRemoved(
  input: PlanInput,
  declaredKeys: ReadonlySet<string>,
): { objects: ObjectPlan[]; gone: ObjectRef[] } {
  const declaredUids = uidsOf(input, declaredKeys);
  const objects: ObjectPlan[] = [];
  const gone: ObjectRef[] = [];
  const leftover = input.record.filter((entry) => !declaredKeys.has(refKey(entry)));
  for (const entry of leftover.toSorted((a, b) => rank(a) - rank(b))) {
    const key = refKey(entry);
    const live = input.live.get(key);
    const to = input.elsewhere?.(key) ?? (entry.uid === undefined ? undefined : declaredUids.get(entry.uid));
    if (to !== undefined) objects.push({ key, ref: refFrom(entry), action: 'moved', to });
    else if (live === undefined) gone.push(refFrom(entry));
    else objects.push(planLeftover(entry, live, objects, input));
  }
  return { objects, gone };
}

function planLeftover(
  entry: InventoryEntry,
  live: KubeObject,
  others: readonly ObjectPlan[],
  input: PlanInput,
): ObjectPlan {
  const ref = refFrom(entry);
  const key = refKey(ref);
  const self = `${input.plugin.namespace}/${input.plugin.name}`;
  const owner = ownerOf(live);
  if (owner !== undefined && owner !== self) {
    if (!input.revisionComplete) {
      // Most likely that plugin took it over; it is decided when it is known what that declares.
      const why = `its labels say that ${describeOwner(owner)} owns it, and the revision is not known as a whole`;
      return { key, ref, action: 'keep', reason: 'incomplete', why, forget: false };
    }
    return {
      key,
      ref,
      action: 'keep',
      reason: 'relabelled',
      why: `its labels say that ${describeOwner(owner)} owns it`,
      forget: false,
    };
  }
  // Without a uid on record (a crash came between intent and write) only our labels prove that we created it.
  const isOurs = entry.uid === undefined ? owner === self : entry.uid === live.metadata.uid;
  if (!isOurs) {
    const why = 'another object has its name now; it is not the one that this plugin created';
    return { key, ref, action: 'keep', reason: 'replaced', why, forget: owner !== self };
  }
  const kept = keepRule(ref, live, others, input);
  if (kept !== undefined) return { key, ref, action: 'keep', ...kept, forget: kept.reason === 'orphan' };
  const { uid } = live.metadata;
  if (uid === undefined)
    throw new EspalierError('Internal', `${describeRef(ref)} was read without its uid, so it can't be deleted`);
  const terminating = terminatingOf(live);
  return { key, ref, action: 'delete', uid, ...(terminating === undefined ? {} : { terminating }) };
}

/** Objects that are declared under another group (`extensions` and `networking.k8s.io`) are the same object: the same UID. */
function uidsOf(input: PlanInput, keys: ReadonlySet<string>): Map<string, string> {
  const uids = new Map<string, string>();
  for (const key of keys) {
    const live = input.live.get(key);
    if (live?.metadata.uid !== undefined) uids.set(live.metadata.uid, `${live.apiVersion} ${live.kind}`);
  }
  return uids;
}

/** Definitions and then namespaces come last: whether they may go depends on what goes before. */
function rank(ref: Pick<ObjectRef, 'kind'>): number {
  return ref.kind === 'Namespace' ? 2 : ref.kind === 'CustomResourceDefinition' ? 1 : 0;
}

function refFrom(entry: InventoryEntry): ObjectRef {
  const { apiVersion, kind, name, namespace } = entry;
  return namespace === undefined ? { apiVersion, kind, name } : { apiVersion, kind, name, namespace };
}
