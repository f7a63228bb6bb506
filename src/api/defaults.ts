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

/** The same of a value. What lacks nothing comes back as it is: so does all that the API server answers. */
export function withDefaults(schema: Schema, value: unknown): unknown {
  return isComplete(schema, value) ? value : filledIn(schema, value);
}

function isComplete(schema: Schema, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const { properties, additionalProperties, items } = schema;
  if (Array.isArray(value)) return items === undefined || value.every((item) => isComplete(items, item));
  if (properties === undefined && additionalProperties === undefined) return true;
  if (properties !== undefined && !defaultedIn(properties).every((name) => Object.hasOwn(value, name))) return false;
  return Object.keys(value).every((name) => {
    const field = fieldIn(schema, name);
    if (field === undefined) return true;
    const item: unknown = Reflect.get(value, name);
    return item !== null && isComplete(field, item);
  });
}

function filledIn(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => withDefaults(items, item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = new Map<string, unknown>();
  for (const [name, item] of Object.entries(value)) {
    const field = fieldIn(schema, name);
    if (field === undefined) fields.set(name, item);
    else if (item !== null) fields.set(name, withDefaults(field, item));
  }
  for (const name of defaultedIn(schema.properties ?? {})) {
    const field = schema.properties?.[name];
    if (field !== undefined && !fields.has(name)) fields.set(name, withDefaults(field, ownCopy(field.default)));
  }
  // Never by assignment: a field named `__proto__` stays an ordinary field.
  return Object.fromEntries(fields);
}

/** Most defaults are a word, for which `structuredClone` takes a hundred times as long. */
function ownCopy(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value;
}

function fieldIn({ properties, additionalProperties }: Schema, name: string): Schema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

/** Schemas are constants, and every declaration and every answer is held to them. */
const DEFAULTED = new WeakMap<object, readonly string[]>();

function defaultedIn(properties: NonNullable<Schema['properties']>): readonly string[] {
  const known = DEFAULTED.get(properties);
  if (known !== undefined) return known;
  const names = Object.keys(properties).filter((name) => properties[name]?.default !== undefined);
  DEFAULTED.set(properties, names);
  return names;
}
