import jsonMergePatch from 'json-merge-patch';
import { EspalierError, type Json, type JsonObject } from '../api/index.ts';
import { holdsForbiddenKey } from './forbidden.ts';

/** RFC 7396: maps merge, null removes, anything else replaces. Neither argument is changed, nor shared with the result. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  for (const value of [target, patch]) {
    if (!holdsForbiddenKey(value)) continue;
    const message = 'A declaration holds a key such as __proto__ or constructor: rename it.';
    throw new EspalierError('InvalidDeclaration', message, { retry: false });
  }
  const merged = jsonMergePatch.apply(structuredClone(target), structuredClone(patch));
  return isMap(merged) ? merged : {};
}

export function isMap(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of names, undefined where there is none; never one that the prototype lends. */
export function valueAt(value: unknown, ...names: string[]): Json | undefined {
  let inner: unknown = value;
  for (const name of names) {
    if (!isMap(inner) || !Object.hasOwn(inner, name)) return undefined;
    inner = inner[name];
  }
  return inner as Json | undefined;
}
