import type { Json, JsonObject } from '../api/index.ts';
import { canonicalJson } from '../api/index.ts';
import { child, describeFound, dotted, oneOf, quote } from '../api/validate/describe.ts';
import { suggest } from '../api/validate/suggest.ts';
import type { Violation } from '../api/validate/violation.ts';
import { safePattern } from './safe-pattern.ts';

/** More than any schema of parameters needs; a hostile one refers to itself for ever. */
const MAX_STEPS = 20_000;
const MAX_DEPTH = 64;

interface Walk {
  root: JsonObject;
  steps: number;
  isPartial: boolean;
}

/**
 * What of a value a JSON Schema (2020-12, without what reaches outside of it) does not allow, named for people.
 * Interpreted rather than compiled: schemas come from repositories, and each is used for a few values only. `schema`
 * must have been found without fault by `parameterSchemaFaults`. Of a part of a value nothing counts as missing.
 */
export function checkJson(schema: JsonObject, value: Json, { isPartial = false } = {}): Violation[] {
  return check({ root: schema, steps: 0, isPartial }, schema, value, '', 0);
}

function check(walk: Walk, schema: Json | undefined, value: Json, path: string, depth: number): Violation[] {
  if (schema === false) return [wrong(path, value, 'nothing')];
  if (!isMap(schema)) return [];
  walk.steps += 1;
  if (walk.steps > MAX_STEPS || depth > MAX_DEPTH)
    return [{ path, message: `${name(path)} can't be checked: the schema refers to itself too often`, expected: '' }];
  const next = (inner: Json | undefined, item: Json, at: string) => check(walk, inner, item, at, depth + 1);
  const typed = typeFault(schema, value, path);
  if (typed !== undefined) return [typed];
  const found = [...valueFaults(schema, value, path)];
  if (Array.isArray(value)) {
    value.forEach((item, index) => void found.push(...next(schema.items, item, child(path, index))));
  } else if (isMap(value)) found.push(...fieldFaults(schema, value, path, next), ...missing(walk, schema, value, path));
  if (typeof schema.$ref === 'string') found.push(...next(target(walk.root, schema.$ref), value, path));
  for (const one of list(schema.allOf)) found.push(...next(one, value, path));
  found.push(...choiceFaults(schema, value, path, next));
  return found;
}

type Next = (schema: Json | undefined, value: Json, path: string) => Violation[];

function typeFault(schema: JsonObject, value: Json, path: string): Violation | undefined {
  const types = typeof schema.type === 'string' ? [schema.type] : list(schema.type).map(String);
  if (types.length === 0 || types.some((type) => isOf(type, value))) return undefined;
  return wrong(path, value, expectedOf(schema));
}

function* valueFaults(schema: JsonObject, value: Json, path: string): Generator<Violation> {
  const refused = (expected: string): Violation => wrong(path, value, expected);
  if (schema.enum !== undefined && !list(schema.enum).some((one) => same(one, value))) {
    const allowed = list(schema.enum).map(shown);
    const meant = typeof value === 'string' ? suggest(value, allowed) : undefined;
    const fault = refused(oneOf(allowed));
    yield meant === undefined ? fault : { ...fault, message: `${fault.message} (did you mean ${meant}?)` };
  }
  if (schema.const !== undefined && !same(schema.const, value)) yield refused(shown(schema.const));
  if (typeof value === 'number') yield* numberFaults(schema, value, refused);
  if (typeof value === 'string') {
    const { minLength, maxLength, pattern } = schema;
    const length = [...value].length;
    if (typeof minLength === 'number' && length < minLength) yield refused(`at least ${minLength} characters`);
    if (typeof maxLength === 'number' && length > maxLength) yield refused(`at most ${maxLength} characters`);
    const regExp = typeof pattern === 'string' ? safePattern(pattern) : undefined;
    if (regExp?.ok && !regExp.matches(value)) yield refused(`text that matches ${pattern}`);
  }
  if (Array.isArray(value)) {
    const { minItems, maxItems, uniqueItems } = schema;
    if (typeof minItems === 'number' && value.length < minItems) yield refused(`at least ${minItems} items`);
    if (typeof maxItems === 'number' && value.length > maxItems) yield refused(`at most ${maxItems} items`);
    if (uniqueItems === true && new Set(value.map(canonicalJson)).size < value.length)
      yield refused('items that differ from one another');
  }
}

function* numberFaults(schema: JsonObject, value: number, refused: (expected: string) => Violation) {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const isLow = typeof minimum === 'number' && value < minimum;
  const isHigh = typeof maximum === 'number' && value > maximum;
  if (isLow || isHigh) yield refused(expectedOf({ ...schema, type: schema.type ?? 'number' }));
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) yield refused(`more than ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) yield refused(`less than ${exclusiveMaximum}`);
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf))
    yield refused(`a multiple of ${multipleOf}`);
}

function fieldFaults(schema: JsonObject, value: JsonObject, path: string, next: Next): Violation[] {
  const found: Violation[] = [];
  const properties = isMap(schema.properties) ? schema.properties : {};
  for (const [field, item] of Object.entries(value)) {
    const at = child(path, field);
    if (Object.hasOwn(properties, field)) found.push(...next(properties[field], item, at));
    else if (schema.additionalProperties === false) found.push(unknownField(at, field, Object.keys(properties)));
    else if (isMap(schema.additionalProperties)) found.push(...next(schema.additionalProperties, item, at));
  }
  const { minProperties, maxProperties } = schema;
  const count = Object.keys(value).length;
  if (typeof minProperties === 'number' && count < minProperties)
    found.push(wrong(path, value, `at least ${minProperties} entries`));
  if (typeof maxProperties === 'number' && count > maxProperties)
    found.push(wrong(path, value, `at most ${maxProperties} entries`));
  return found;
}

function missing({ isPartial }: Walk, schema: JsonObject, value: JsonObject, path: string): Violation[] {
  const properties = isMap(schema.properties) ? schema.properties : {};
  const absent = list(schema.required).flatMap((field) =>
    isPartial || typeof field !== 'string' || Object.hasOwn(value, field) ? [] : [field],
  );
  return absent.map((field) => {
    const inner = Object.hasOwn(properties, field) ? properties[field] : undefined;
    const expected = isMap(inner) ? expectedOf(inner) : 'a value';
    return { path, message: `${dotted(child(path, field))} is missing, expected ${expected}`, expected };
  });
}

function choiceFaults(schema: JsonObject, value: Json, path: string, next: Next): Violation[] {
  const passes = (one: Json | undefined): boolean => next(one, value, path).length === 0;
  const found: Violation[] = [];
  for (const [keyword, isRight] of [
    ['anyOf', (count: number) => count > 0],
    ['oneOf', (count: number) => count === 1],
  ] as const) {
    const choices = list(schema[keyword]);
    if (choices.length === 0 || isRight(choices.filter(passes).length)) continue;
    const expected = choices.map((one) => (isMap(one) ? expectedOf(one) : 'something else')).join(', or ');
    found.push(wrong(path, value, keyword === 'oneOf' ? `exactly one of: ${expected}` : expected));
  }
  if (schema.not !== undefined && passes(schema.not)) found.push(wrong(path, value, 'something else'));
  if (schema.if !== undefined) found.push(...next(passes(schema.if) ? schema.then : schema.else, value, path));
  return found;
}

export function unknownField(path: string, field: string, known: readonly string[]): Violation {
  const meant = suggest(field, known);
  const expected = known.length === 0 ? 'nothing' : oneOf(known);
  const hint = meant === undefined ? `: expected ${expected}` : `; did you mean ${meant}?`;
  return { path, message: `${dotted(path)} is not known${hint}`, expected };
}

/** What a schema takes, as the end of "expected …". */
export function expectedOf(schema: JsonObject): string {
  if (Array.isArray(schema.enum)) return oneOf(schema.enum.map(shown));
  if (schema.const !== undefined) return shown(schema.const);
  const types = typeof schema.type === 'string' ? [schema.type] : list(schema.type).map(String);
  const words = types.map((type) => WORDS[type] ?? type).join(' or ');
  if (!types.some((type) => type === 'integer' || type === 'number')) return words === '' ? 'another value' : words;
  const { minimum, maximum } = schema;
  if (typeof minimum === 'number' && typeof maximum === 'number') return `${words} from ${minimum} to ${maximum}`;
  if (typeof minimum === 'number') return `${words} of at least ${minimum}`;
  return typeof maximum === 'number' ? `${words} of at most ${maximum}` : words;
}

const WORDS: Readonly<Record<string, string>> = {
  object: 'a mapping',
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  null: 'nothing',
};

function wrong(path: string, value: Json, expected: string): Violation {
  return { path, message: `${name(path)} is ${describeFound(value)}, expected ${expected}`, expected };
}

function name(path: string): string {
  return path === '' ? 'the value' : dotted(path);
}

function shown(value: Json): string {
  return typeof value === 'string' ? (value === '' ? quote(value) : value) : canonicalJson(value);
}

function isOf(type: string, value: Json): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isMap(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** What `#/$defs/port` means. */
export function target(root: JsonObject, ref: string): Json | undefined {
  let found: Json | undefined = root;
  for (const step of ref.split('/').slice(1)) {
    const field = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isMap(found) && Object.hasOwn(found, field) ? found[field] : undefined;
  }
  return found;
}

function same(a: Json, b: Json): boolean {
  return a === b || canonicalJson(a) === canonicalJson(b);
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

export function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
