import { CONTROLLER_MANAGER, FINALIZER, isError, type KubeObject, refOf } from '../api/index.ts';
import type { Parts } from './parts.ts';

/**
 * Makes sure that an object can't vanish before what it owns was looked after. Must succeed before anything is written
 * on its behalf. True when it had to be added: the object is newer now than the caller's copy.
 */
export async function ensureFinalizer(parts: Pick<Parts, 'client' | 'storeFor'>, object: KubeObject): Promise<boolean> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(FINALIZER) || object.metadata.deletionTimestamp !== undefined) return false;
  await writeFinalizers(parts, object, [...finalizers, FINALIZER]);
  return true;
}

/** Lets a deletion go on. An object that is gone already needs nothing more: the watch may bring that news late. */
export async function dropFinalizer(
  parts: Pick<Parts, 'client' | 'storeFor'>,
  object: KubeObject,
  /** Those of a controller that the agent stands in for. */
  others: readonly string[] = [],
): Promise<void> {
  const finalizers = object.metadata.finalizers ?? [];
  const rest = finalizers.filter((one) => one !== FINALIZER && !others.includes(one));
  if (rest.length === finalizers.length) return;
  try {
    await writeFinalizers(parts, object, rest);
  } catch (error) {
    if (!isError(error, 'KubeNotFound')) throw error;
  }
}

/** Finalizers are a list that others write too: only over the version that was read. */
async function writeFinalizers(
  { client, storeFor }: Pick<Parts, 'client' | 'storeFor'>,
  object: KubeObject,
  finalizers: string[],
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  const metadata = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    finalizers,
  };
  const written = await client.patch(refOf(object), { metadata }, { type: 'merge', fieldManager: CONTROLLER_MANAGER });
  if (finalizers.includes(FINALIZER)) storeFor(object.kind)?.put(written);
}
