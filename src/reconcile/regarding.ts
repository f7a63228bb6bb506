import { type KubeObject, type ObjectRef, refOf } from '../api/index.ts';

/** How an Event names what it is about. */
export function regarding(object: KubeObject): ObjectRef & { uid?: string } {
  const { uid } = object.metadata;
  return uid === undefined ? refOf(object) : { ...refOf(object), uid };
}
