import type { Json, JsonObject } from '../api/index.ts';

/** RFC 7396: null deletes, maps are merged, everything else replaces. Changes neither argument. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isMap(patch)) return patch;
  const merged: JsonObject = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    // Not by assignment, which for `__proto__` would do something else.
    else define(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value));
  }
  return merged;
}

function define(map: JsonObject, name: string, value: Json): void {
  Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
}

function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
