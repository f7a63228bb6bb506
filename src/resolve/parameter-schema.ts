import type { Json, JsonObject } from '../api/index.ts';
import { child, dotted } from '../api/validate/describe.ts';
import { suggest } from '../api/validate/suggest.ts';
import { isMap, target } from './json-schema.ts';
import { safePattern } from './safe-pattern.ts';

export interface SchemaFault {
  /** JSON pointer into the schema. */
  path: string;
  message: string;
}

const MAX_NODES = 2000;
const MAX_DEPTH = 32;

/** Keywords whose value is one schema, a list of schemas, or a map of schemas. */
const ONE = ['items', 'additionalProperties', 'not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const MAPS = ['properties', '$defs', 'definitions'];
const NUMBERS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
];
const SAID_ONLY = [
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'format', '$schema'],
  ...['$comment', '$id', 'contentEncoding', 'contentMediaType'],
];
const KEYWORDS = new Set([
  ...ONE,
  ...LISTS,
  ...MAPS,
  ...NUMBERS,
  ...SAID_ONLY,
  ...['type', 'enum', 'const', 'pattern', 'required', 'uniqueItems', '$ref'],
]);
const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'];

/** What is wrong with the JSON Schema of an extension's parameters. One that has no fault can be checked against. */
export function parameterSchemaFaults(schema: JsonObject): SchemaFault[] {
  const faults: SchemaFault[] = [];
  let nodes = 0;
  const say = (path: string, message: string): void => void faults.push({ path, message });
  const visit = (node: Json | undefined, path: string, depth: number): void => {
    nodes += 1;
    if (nodes > MAX_NODES || depth > MAX_DEPTH) {
      if (nodes === MAX_NODES + 1 || depth === MAX_DEPTH + 1) say(path, 'the schema is too large or too deep');
      nodes += MAX_NODES;
      return;
    }
    if (typeof node === 'boolean') return;
    if (!isMap(node)) {
      say(path, 'must be a schema: a mapping, true or false');
      return;
    }
    for (const [keyword, value] of Object.entries(node)) {
      const at = child(path, keyword);
      if (ONE.includes(keyword)) visit(value, at, depth + 1);
      else if (LISTS.includes(keyword)) {
        if (Array.isArray(value)) value.forEach((one, index) => void visit(one, child(at, index), depth + 1));
        else say(at, 'must be a list of schemas');
      } else if (MAPS.includes(keyword)) {
        if (isMap(value)) for (const [name, one] of Object.entries(value)) visit(one, child(at, name), depth + 1);
        else say(at, 'must be a mapping of names to schemas');
      } else for (const message of keywordFaults(schema, keyword, value)) say(at, message);
    }
  };
  visit(schema, '', 0);
  if (faults.length === 0 && schema.type !== undefined && schema.type !== 'object')
    say('/type', 'must be object: parameters have names');
  return faults;
}

function keywordFaults(root: JsonObject, keyword: string, value: Json): string[] {
  if (keyword.startsWith('x-') || SAID_ONLY.includes(keyword)) return [];
  if (!KEYWORDS.has(keyword)) {
    const meant = suggest(keyword, [...KEYWORDS]);
    return [`is not a keyword that can be checked${meant === undefined ? '' : `; did you mean ${meant}?`}`];
  }
  if (NUMBERS.includes(keyword)) return typeof value === 'number' ? [] : ['must be a number'];
  if (keyword === 'type') {
    const types = Array.isArray(value) ? value : [value];
    const unknown = types.find((type) => !TYPES.some((known) => known === type));
    return unknown === undefined ? [] : [`must be one of ${TYPES.join(', ')}`];
  }
  if (keyword === 'enum') return Array.isArray(value) && value.length > 0 ? [] : ['must be a list of allowed values'];
  if (keyword === 'required')
    return Array.isArray(value) && value.every((name) => typeof name === 'string') ? [] : ['must be a list of names'];
  if (keyword === 'uniqueItems') return typeof value === 'boolean' ? [] : ['must be true or false'];
  if (keyword === 'pattern') {
    if (typeof value !== 'string') return ['must be a regular expression'];
    const pattern = safePattern(value);
    return pattern.ok ? [] : [`can't be used: ${pattern.why}`];
  }
  if (keyword === '$ref') {
    if (typeof value !== 'string' || !/^#(?:\/|$)/.test(value)) return ['must stay inside the schema: #/$defs/name'];
    return target(root, value) === undefined ? [`${value} is not there`] : [];
  }
  return [];
}

/** `parameters.properties.replicas.minimum: must be a number`, for people. */
export function describeSchemaFault({ path, message }: SchemaFault, field = 'parameters'): string {
  return `${dotted(`/${field}${path}`)} ${message}`;
}
