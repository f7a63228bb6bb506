import { kindDefinition } from './kinds.ts';
import { API_VERSION } from './names.ts';
import type { KubeObject } from './objects.ts';
import type { Schema } from './schema.ts';

/**
 * Fills in what the API server would: defaults of absent fields, from the outside in. A null counts as absent, except in
 * free-form parts. Returns a new object that shares what did not change; objects of other kinds come back as they are.
 */
export function applyDefaults<T extends KubeObject>(object: T): T {
  const definition = object.apiVersion === API_VERSION ? kindDefinition(object.kind) : undefined;
  if (definition === undefined || object.spec === undefined) return object;
  return { ...object, spec: withDefaults(definition.spec, object.spec) };
}

export function withDefaults(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => withDefaults(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const { properties, additionalProperties } = schema;
  if (properties === undefined && additionalProperties === undefined) return value;
  const fields = new Map<string, unknown>();
  for (const [name, item] of Object.entries(value)) {
    const field = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (field === undefined) fields.set(name, item);
    else if (item !== null) fields.set(name, withDefaults(field, item));
  }
  for (const [name, field] of Object.entries(properties ?? {})) {
    const missing = field.default !== undefined && !fields.has(name);
    if (missing) fields.set(name, withDefaults(field, structuredClone(field.default)));
  }
  // Never by assignment: a field named `__proto__` stays an ordinary field.
  return Object.fromEntries(fields);
}
