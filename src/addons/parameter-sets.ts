import type { Json, JsonObject } from '../api/index.ts';
import { shorten } from '../api/one-line.ts';
import { checkJson, isMap } from '../resolve/json-schema.ts';
import { valueViolations } from '../resolve/template-values.ts';
import { mergeValues } from '../resolve/values.ts';

/** Values to try an add-on with, and what they are called. */
export interface ParameterSet {
  title: string;
  values: JsonObject;
  /** Of something in it the schema says nothing: the add-on may well refuse it. */
  isGuess: boolean;
}

const MOST_SETS = 12;
/** Large enough for Helm to print it as a float where nobody looks. */
const LARGE = 12_345_678;
const DEEPEST = 4;
const MOST_OTHERS = 3;
const LONGEST_TITLE = 80;

interface Variation {
  path: string[];
  value: Json;
  isGuess: boolean;
}

/**
 * The defaults, everything otherwise than by default, and single parameters otherwise: switches and lists first, for
 * they decide what is rendered at all. All of them fit the schema.
 */
export function parameterSets(defaults: JsonObject, schema: JsonObject | undefined): ParameterSet[] {
  const fitting: ParameterSet[] = [];
  for (const set of setsInOrder(defaults, schema)) {
    if (schema === undefined || valueViolations(schema, set.values).length === 0) fitting.push(set);
    if (fitting.length === MOST_SETS) break;
  }
  return fitting;
}

function* setsInOrder(defaults: JsonObject, schema: JsonObject | undefined): Generator<ParameterSet> {
  const variations = [...variationsOf(schema, defaults, [], 0)];
  const base = withRequired(defaults, schema);
  yield { title: 'the defaults', values: base, isGuess: false };
  const first = [...new Map(variations.map((one) => [one.path.join('\0'), one] as const).reverse()).values()];
  if (first.length > 1) {
    const isGuess = first.some((one) => one.isGuess);
    yield { title: 'every parameter changed', values: first.reduce(apply, base), isGuess };
  }
  for (const one of [...variations.filter(decides), ...variations.filter((other) => !decides(other))])
    yield { title: titleOf(one), values: apply(base, one), isGuess: one.isGuess };
}

function titleOf({ path, value }: Variation): string {
  return `${path.join('.')}: ${shorten(JSON.stringify(value), LONGEST_TITLE)}`;
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
    const [value] = isMap(inner) && !Object.hasOwn(defaults, name) ? othersOf(inner, undefined) : [];
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
    if (path.length > 0)
      for (const other of othersOf(described, value)) yield { path, value: other, isGuess: !isMap(schema) };
    return;
  }
  for (const name of names)
    yield* variationsOf(properties[name], isMap(value) ? value[name] : undefined, [...path, name], depth + 1);
}

/** Some other values of the same type that the schema allows. */
function othersOf(schema: JsonObject, value: Json | undefined): Json[] {
  const fitting = candidates(schema, value).filter((other) => checkJson(schema, other).length === 0);
  return fitting.slice(0, MOST_OTHERS);
}

function candidates(schema: JsonObject, value: Json | undefined): Json[] {
  if (Array.isArray(schema.enum)) return schema.enum.filter((one) => one !== value);
  const type = typeOf(schema, value);
  if (type === 'boolean') return [value !== true];
  if (type === 'integer') {
    const given = typeof value === 'number' ? value : 1;
    const bounds = [schema.minimum, schema.maximum].filter((one) => typeof one === 'number');
    return [LARGE, given + 1, ...bounds, 1].filter((one) => one !== given);
  }
  if (type === 'number') return [(typeof value === 'number' ? value : 1) + 0.5];
  if (type === 'array') return Array.isArray(value) && value.length > 0 ? [[], withOneMore(schema, value)] : [[]];
  // Maps are merged over their defaults: nothing can be taken out of one.
  if (type === 'object') return [{ ...(isMap(value) ? value : {}), other: 'value' }];
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  return [...examples, `${typeof value === 'string' ? value : ''}x`, 'other', '10.1.2.3', ''];
}

/** One that is none of those that are there: what is in a list often has a name of its own. */
function withOneMore({ items }: JsonObject, list: readonly Json[]): Json[] {
  const last = list.at(-1) ?? null;
  return [...list, another(isMap(items) ? items : {}, last)];
}

function another(schema: JsonObject, value: Json): Json {
  if (!isMap(value)) return othersOf(schema, value).find((one) => typeof one === typeof value) ?? value;
  const { properties } = schema;
  const fields = Object.entries(value).map(([name, field]): [string, Json] => {
    const inner = isMap(properties) ? properties[name] : undefined;
    return [name, typeof field === 'object' ? field : another(isMap(inner) ? inner : {}, field)];
  });
  return Object.fromEntries(fields);
}

function typeOf({ type }: JsonObject, value: Json | undefined): string {
  const named = Array.isArray(type) ? type[0] : type;
  if (typeof named === 'string') return named;
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
  return isMap(value) ? 'object' : typeof value;
}
