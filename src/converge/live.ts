import { isError, type KubeObject, type ObjectRef, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { settleAll } from './limit.ts';
import { groupKind } from './watches.ts';

/** From this many objects of one kind and namespace on, one list of names is cheaper than asking for each. */
const LIST_FROM = 6;
const PARALLEL_READS = 32;

/**
 * The live objects behind these references. A key that is absent from the answer is known to be absent from the
 * cluster; anything that could not be found out is thrown (an error is never an absence).
 */
export async function readLive(client: KubeClient, refs: readonly ObjectRef[]): Promise<Map<string, KubeObject>> {
  const groups = new Map<string, ObjectRef[]>();
  for (const ref of refs) {
    const group = `${groupKind(ref)} ${ref.namespace ?? ''}`;
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [ref]);
    else members.push(ref);
  }
  const candidates = await settleAll([...groups.values()], PARALLEL_READS, (members) =>
    members.length < LIST_FROM ? Promise.resolve(members) : whichExist(client, members),
  );
  const live = new Map<string, KubeObject>();
  const reads = await settleAll(valuesOf(candidates).flat(), PARALLEL_READS, async (ref) => {
    const object = await readOne(client, ref);
    if (object !== undefined) live.set(refKey(ref), object);
  });
  valuesOf(reads);
  return live;
}

async function readOne(client: KubeClient, ref: ObjectRef): Promise<KubeObject | undefined> {
  try {
    return await client.get(ref);
  } catch (error) {
    // Discovery answered in full and does not know the kind: then no object of it can exist.
    if (isError(error, 'KubeKindUnknown')) return undefined;
    throw error;
  }
}

async function whichExist(client: KubeClient, refs: readonly ObjectRef[]): Promise<ObjectRef[]> {
  const [first] = refs;
  if (first === undefined) return [];
  const { apiVersion, kind, namespace } = first;
  try {
    const { items } = await client.list({
      apiVersion,
      kind,
      metadataOnly: true,
      ...(namespace === undefined ? {} : { namespace }),
    });
    const names = new Set(items.map((item) => item.metadata.name));
    return refs.filter((ref) => names.has(ref.name));
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return [];
    throw error;
  }
}

function valuesOf<T>(results: readonly PromiseSettledResult<T>[]): T[] {
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
