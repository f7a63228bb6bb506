import {
  CONTROLLER_MANAGER,
  isError,
  type Json,
  type JsonObject,
  type KubeObject,
  type ObjectRef,
  withInventoryLines,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';

/** Whose status it is. With `resourceVersion`: the version of the object that has no status yet. */
export type StatusOwner = ObjectRef & { uid: string; resourceVersion?: string | undefined };

const OPTIONS = { subresource: 'status', fieldManager: CONTROLLER_MANAGER } as const;

/**
 * Writes a status as the smallest merge patch that leads from one to the other, and nothing when they are equal.
 * The uid is a precondition: an object that was replaced under the same name is left alone. A first status is sent as
 * what it is, which costs the API server a sixth less, and as a patch only where the object has changed meanwhile.
 */
export async function writeStatus(
  client: Pick<KubeClient, 'patch' | 'update'>,
  owner: StatusOwner,
  before: object | undefined,
  after: object,
): Promise<KubeObject | undefined> {
  const diff = mergeDiff(withInventoryLines(before ?? {}) as JsonObject, withInventoryLines(after) as JsonObject);
  if (diff === undefined) return undefined;
  const { uid, resourceVersion, apiVersion, kind, ...names } = owner;
  if (before === undefined && resourceVersion !== undefined)
    try {
      return await client.update(
        { apiVersion, kind, metadata: { ...names, uid, resourceVersion }, status: diff },
        { ...OPTIONS, fieldValidation: 'Ignore' },
      );
    } catch (error) {
      if (!isError(error, 'KubeConflict')) throw error;
    }
  const body: Json = { metadata: { uid }, status: diff };
  return await client.patch({ apiVersion, kind, ...names }, body, { type: 'merge', ...OPTIONS });
}

/** Whether there is nothing to write. */
export function isSameStatus(before: object | undefined, after: object): boolean {
  return mergeDiff((before ?? {}) as JsonObject, after as JsonObject) === undefined;
}

/** The RFC 7396 patch that makes `after` of `before`; undefined when there is nothing to do. */
export function mergeDiff(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const diff: JsonObject = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) diff[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    if (isObject(old) && isObject(value)) {
      const inner = mergeDiff(old, value);
      if (inner !== undefined) diff[name] = inner;
    } else if (value !== undefined && !sameJson(old, value)) diff[name] = value;
  }
  return Object.keys(diff).length === 0 ? undefined : diff;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  );
}
