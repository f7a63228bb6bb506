import { isError } from '../api/errors.ts';
import { LABEL } from '../api/names.ts';
import { type ObjectRef, refKey, refOf } from '../api/objects.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Found } from './tree-object.ts';

/** What a person's own rights keep secret, and what is large: for these, that they exist is all that is asked. */
const METADATA_ONLY: ReadonlySet<string> = new Set(['Secret', 'ConfigMap']);
/** Up to this many objects of a kind are asked for one by one. */
const ONE_BY_ONE = 3;

/**
 * The live state of many objects, by `refKey`. Kinds with many are listed by their ownership label; what is not among
 * those (the label may be gone) is asked for by name. What can't be read is an answer too.
 */
export async function fetchObjects(client: KubeClient, refs: readonly ObjectRef[]): Promise<Map<string, Found>> {
  const byKind = Map.groupBy(refs, ({ apiVersion, kind }) => `${apiVersion} ${kind}`);
  const found = new Map<string, Found>();
  await Promise.all([...byKind.values()].map((group) => fetchKind(client, group, found)));
  return found;
}

async function fetchKind(client: KubeClient, refs: readonly ObjectRef[], found: Map<string, Found>): Promise<void> {
  const wanted = new Map(refs.map((ref) => [refKey(ref), ref]));
  if (wanted.size > ONE_BY_ONE) {
    for (const object of await listOwned(client, refs)) {
      const key = refKey(refOf(object));
      if (wanted.delete(key)) found.set(key, object);
    }
  }
  await Promise.all([...wanted].map(async ([key, ref]) => found.set(key, await getOne(client, ref))));
}

async function listOwned(client: KubeClient, refs: readonly ObjectRef[]) {
  const [first] = refs;
  if (first === undefined) return [];
  const { apiVersion, kind, namespace } = first;
  const sameNamespace = namespace !== undefined && refs.every((ref) => ref.namespace === namespace);
  try {
    const { items } = await client.list({
      apiVersion,
      kind,
      labelSelector: LABEL.plugin,
      ...(sameNamespace ? { namespace } : {}),
      ...(METADATA_ONLY.has(kind) ? { metadataOnly: true } : {}),
    });
    return items;
  } catch (error) {
    if (isError(error, 'KubeForbidden', 'KubeKindUnknown')) return [];
    throw error;
  }
}

async function getOne(client: KubeClient, ref: ObjectRef): Promise<Found> {
  try {
    return (await client.get(ref)) ?? 'absent';
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return 'absent';
    if (isError(error, 'KubeForbidden')) return new Error('you may not read it');
    throw error;
  }
}
