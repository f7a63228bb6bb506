import type { Json, JsonObject } from '../api/index.ts';
import { checkJson, isMap } from '../resolve/json-schema.ts';
import { valueViolations } from '../resolve/template-values.ts';
import { mergeValues } from '../resolve/values.ts';

/** Values to try an add-on with, and what they are called. */
export interface ParameterSet {
  title: string;
  values: JsonObject;
}

const MOST_SETS = 12;
/** Large enough for Helm to print it as a float where nobody looks. */
const LARGE = 12_345_678;
const DEEPEST = 4;

interface Variation {
  path: string[];
  value: Json;
}

/**
 * The defaults, everything otherwise than by default, and single parameters otherwise: switches and lists first, for
 * they decide what is rendered at all. All of them fit the schema.
 */
export function parameterSets(defaults: JsonObject, schema: JsonObject | undefined): ParameterSet[] {
  const variations = [...variationsOf(schema, defaults, [], 0)];
  const base = withRequired(defaults, schema);
  const sets = [{ title: 'the defaults', values: base }];
  const first = new Map(variations.map((one) => [one.path.join('\0'), one] as const).reverse());
  if (first.size > 1) sets.push({ title: 'every parameter changed', values: [...first.values()].reduce(apply, base) });
  const inOrder = [...variations.filter(decides), ...variations.filter((one) => !decides(one))];
  for (const one of inOrder)
    sets.push({ title: `${one.path.join('.')}: ${JSON.stringify(one.value)}`, values: apply(base, one) });
  const fitting = sets.filter(({ values }) => schema === undefined || valueViolations(schema, values).length === 0);
  return fitting.slice(0, MOST_SETS);
}

function decides({ value }: Variation): boolean {
  return typeof value === 'boolean' || typeof value === 'object';
}

function apply(values: JsonObject, { path, value }: Variation): JsonObject {
  return mergeOver(values, path, value);
}

function mergeOver(values: JsonObject, [step = '', ...rest]: readonly string[], value: Json): JsonObject {
  const inner = values[step];
  return { ...values, [step]: rest.length === 0 ? value : mergeOver(isMap(inner) ? inner : {}, rest, value) };
}

/** What is required and has no default gets some value that fits. */
function withRequired(defaults: JsonObject, schema: JsonObject | undefined): JsonObject {
  if (schema === undefined || !isMap(schema.properties)) return defaults;
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const properties = schema.properties;
  const made = required.flatMap((name): [string, Json][] => {
    const inner = properties[name];
    const [value] = isMap(inner) && !Object.hasOwn(defaults, name) ? [...othersOf(inner, undefined)] : [];
    return value === undefined ? [] : [[name, value]];
  });
  return mergeValues(Object.fromEntries(made), defaults);
}

function* variationsOf(
  schema: Json | undefined,
  value: Json | undefined,
  path: string[],
  depth: number,
): Generator<Variation> {
  const described = isMap(schema) ? schema : {};
  const properties = isMap(described.properties) ? described.properties : {};
  const names = [...new Set([...Object.keys(properties), ...(isMap(value) ? Object.keys(value) : [])])];
  if (names.length === 0 || depth >= DEEPEST) {
    if (path.length > 0) for (const other of othersOf(described, value)) yield { path, value: other };
    return;
  }
  for (const name of names)
    yield* variationsOf(properties[name], isMap(value) ? value[name] : undefined, [...path, name], depth + 1);
}

/** Other values of the same type that the schema allows. */
function* othersOf(schema: JsonObject, value: Json | undefined): Generator<Json> {
  for (const other of candidates(schema, value)) if (checkJson(schema, other).length === 0) yield other;
}

function candidates(schema: JsonObject, value: Json | undefined): Json[] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((one) => one !== value).slice(0, 2);
  const type = typeOf(schema, value);
  if (type === 'boolean') return [value !== true];
  if (type === 'integer') {
    const given = typeof value === 'number' ? value : 1;
    const bounds = [schema.minimum, schema.maximum].filter((one) => typeof one === 'number');
    return [LARGE, given + 1, ...bounds, 1].filter((one) => one !== given).slice(0, 3);
  }
  if (type === 'number') return [(typeof value === 'number' ? value : 1) + 0.5];
  if (type === 'array') return Array.isArray(value) && value.length > 0 ? [[], [...value, ...value]] : [[]];
  // Maps are merged over their defaults: nothing can be taken out of one.
  if (type === 'object') return [{ ...(isMap(value) ? value : {}), other: 'value' }];
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  return [...examples, `${typeof value === 'string' ? value : ''}x`, 'other', '10.1.2.3', ''].slice(0, 5);
}

function typeOf({ type }: JsonObject, value: Json | undefined): string {
  const named = Array.isArray(type) ? type[0] : type;
  if (typeof named === 'string') return named;
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return isMap(value) ? 'object' : typeof value;
}
