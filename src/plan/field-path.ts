import { EspalierError, type Json, type JsonObject } from '../api/index.ts';
import { fieldOf, isEqual, isObject } from './json.ts';

/** One step into an object, as the API server's managedFields name it. */
export type PathElement =
  | { readonly field: string }
  /** The item of a list whose fields have these values: `k:{"name":"app"}`. */
  | { readonly key: JsonObject }
  /** The item of a set with this value: `v:"example.com/finalizer"`. */
  | { readonly value: Json }
  | { readonly index: number };

export type FieldPath = readonly PathElement[];

/** Reads `f:name`, `k:{…}`, `v:…` or `i:0`. */
export function parseElement(text: string): PathElement {
  const rest = text.slice(2);
  switch (text.slice(0, 2)) {
    case 'f:':
      return { field: rest };
    case 'k:': {
      const key = parseJson(rest, text);
      if (isObject(key)) return { key };
      break;
    }
    case 'v:':
      return { value: parseJson(rest, text) };
    case 'i:':
      if (/^\d+$/.test(rest)) return { index: Number(rest) };
  }
  throw new EspalierError('Internal', `managedFields hold "${text}", which is not a path element this version knows`);
}

export function writeElement(element: PathElement): string {
  if ('field' in element) return `f:${element.field}`;
  if ('key' in element) return `k:${JSON.stringify(element.key)}`;
  if ('value' in element) return `v:${JSON.stringify(element.value)}`;
  return `i:${element.index}`;
}

/** For people, and unambiguous: `spec.template.spec.containers[name=app].image`, `metadata.labels["example.com/x"]`. */
export function printPath(path: FieldPath): string {
  let text = '';
  for (const element of path) {
    if ('field' in element) {
      const isPlain = /^[A-Za-z_][\w-]*$/.test(element.field);
      if (isPlain) text += text === '' ? element.field : `.${element.field}`;
      else text += `[${JSON.stringify(element.field)}]`;
    } else if ('key' in element) {
      const pairs = Object.entries(element.key).map(([name, value]) => `${printScalar(name)}=${printScalar(value)}`);
      text += `[${pairs.join(',')}]`;
    } else if ('value' in element) {
      text += `[=${printScalar(element.value)}]`;
    } else {
      text += `[${element.index}]`;
    }
  }
  return text;
}

/** As the API server names a field in its answers: `.spec.template.spec.containers[name="app"].image`. */
export function serverPath(path: FieldPath): string {
  return path
    .map((element) => {
      if ('field' in element) return `.${element.field}`;
      if ('value' in element) return `[=${JSON.stringify(element.value)}]`;
      if ('index' in element) return `[${element.index}]`;
      const pairs = Object.entries(element.key).sort(([a], [b]) => (a < b ? -1 : 1));
      return `[${pairs.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
    })
    .join('');
}

/** Strings go bare where they can't be taken for anything else. */
function printScalar(value: Json): string {
  const isBare = typeof value === 'string' && /^[A-Za-z_/][\w./:-]*$/.test(value) && !/^(true|false|null)$/.test(value);
  return isBare ? value : JSON.stringify(value);
}

/** The item that an element names, or undefined. */
export function stepInto(value: Json | undefined, element: PathElement): Json | undefined {
  if ('field' in element) return fieldOf(value, element.field);
  if (!Array.isArray(value)) return undefined;
  if ('index' in element) return value[element.index];
  if ('value' in element) return value.find((item) => isEqual(item, element.value));
  return value.find((item) => hasKey(item, element.key)) ?? value.find((item) => mayHaveKey(item, element.key));
}

export function valueAt(object: Json | undefined, path: FieldPath): Json | undefined {
  return path.reduce<Json | undefined>(stepInto, object);
}

function hasKey(item: Json, key: JsonObject): boolean {
  return Object.entries(key).every(([name, value]) => isEqual(fieldOf(item, name), value));
}

/** What a declaration leaves out of a key is filled in by the API server (`protocol: TCP`). */
function mayHaveKey(item: Json, key: JsonObject): boolean {
  const said = Object.entries(key).filter(([name]) => fieldOf(item, name) !== undefined);
  return said.length > 0 && said.every(([name, value]) => isEqual(fieldOf(item, name), value));
}

function parseJson(text: string, element: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new EspalierError('Internal', `managedFields hold "${element}", which is not a path element`, { cause });
  }
}
