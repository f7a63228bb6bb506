import { applyDefaults } from './defaults.ts';
import { EspalierError } from './errors.ts';
import { withInventoryEntries } from './inventory-line.ts';
import type { KindName, KindTypes } from './kinds.ts';
import { API_VERSION } from './names.ts';
import { describeRef, type KubeObject, refOf } from './objects.ts';

/** True for an object of that kind of ours, in the version that this program speaks. */
export function isKind(object: KubeObject, kind: KindName): boolean {
  return object.apiVersion === API_VERSION && object.kind === kind;
}

/**
 * An object from the API server as its type, with defaults filled in and the lines of its inventory read.
 * Only for what the API server accepted or `validateObject` found without fault: fields are not checked again.
 */
export function readAs<K extends KindName>(object: KubeObject, kind: K): KindTypes[K] {
  if (!isKind(object, kind) || typeof object.spec !== 'object' || object.spec === null) {
    const what = `${describeRef(refOf(object))} (${object.apiVersion})`;
    throw new EspalierError('InvalidDeclaration', `${what} is not a ${kind} of ${API_VERSION}`, { retry: false });
  }
  const complete = applyDefaults(object);
  const { status } = complete;
  const isRead = typeof status !== 'object' || status === null || !('inventory' in status);
  return (isRead ? complete : { ...complete, status: withInventoryEntries(status) }) as KindTypes[K];
}
