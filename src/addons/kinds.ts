import type { Json, JsonObject } from '../api/index.ts';

/**
 * What is known of a value in a template: `root` is what a template is called with (the parameters, and beside them
 * Files, Release and so on; `more` are fields that were merged in), `integer` a number that Helm would read as a float.
 */
export type Kind =
  | { is: 'root'; more: Fields }
  | { is: 'map'; fields: Fields }
  | { is: 'list'; items: Kind }
  | { is: 'tuple'; items: Kind[] }
  | { is: 'integer' }
  | { is: 'other' };

export type Fields = Readonly<Record<string, Kind>>;

export const OTHER: Kind = { is: 'other' };
export const ROOT: Kind = { is: 'root', more: {} };

/** What is known of parameters by their schema, and else by what they are where nothing is said. */
export function kindOf(schema: Json | undefined, value: Json | undefined): Kind {
  const described = isMap(schema) ? schema : {};
  const { type, properties, items } = described;
  if (type === 'integer' || (type === undefined && typeof value === 'number' && Number.isSafeInteger(value)))
    return { is: 'integer' };
  if (Array.isArray(value) || type === 'array') {
    const known = Array.isArray(value) ? value.map((item) => kindOf(items, item)) : [];
    return {
      is: 'list',
      items: known.reduce<Kind>(join, isMap(items) ? kindOf(items, undefined) : (known[0] ?? OTHER)),
    };
  }
  if (!isMap(value) && !isMap(properties)) return OTHER;
  const names = new Set([
    ...Object.keys(isMap(properties) ? properties : {}),
    ...Object.keys(isMap(value) ? value : {}),
  ]);
  const fields = [...names].map((name): [string, Kind] => [
    name,
    kindOf(isMap(properties) ? own(properties, name) : undefined, isMap(value) ? own(value, name) : undefined),
  ]);
  return { is: 'map', fields: Object.fromEntries(fields) };
}

/** What is taken for whole numbers by its default alone, by path: another value of it need not be one. */
export function guessedIntegers(schema: Json | undefined, value: Json | undefined, path = ''): string[] {
  const described = isMap(schema) ? schema : {};
  const { type, properties, items } = described;
  if (typeof value === 'number') return type === undefined && Number.isSafeInteger(value) ? [path] : [];
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((item) => guessedIntegers(items, item, `${path}[]`));
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = isMap(properties) ? own(properties, name) : undefined;
    return guessedIntegers(inner, field, path === '' ? name : `${path}.${name}`);
  });
}

/** What is true of both. Two that are known to differ are `other`. */
export function join(a: Kind, b: Kind): Kind {
  if (a.is === 'root' && b.is === 'root') return { is: 'root', more: joinFields(a.more, b.more) };
  if (a.is === 'map' && b.is === 'map') return { is: 'map', fields: joinFields(a.fields, b.fields) };
  if (a.is === 'integer' && b.is === 'integer') return a;
  const [first, second] = [itemsOf(a), itemsOf(b)];
  if (first !== undefined && second !== undefined) return { is: 'list', items: join(first, second) };
  return OTHER;
}

function joinFields(a: Fields, b: Fields): Fields {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return Object.fromEntries(names.map((name) => [name, join(a[name] ?? OTHER, b[name] ?? OTHER)]));
}

/** What each item of a list is; undefined for what is no list. */
export function itemsOf(kind: Kind): Kind | undefined {
  if (kind.is === 'list') return kind.items;
  return kind.is === 'tuple' ? kind.items.reduce<Kind>(join, kind.items[0] ?? OTHER) : undefined;
}

/** What `range` makes of a value. */
export function elementOf(kind: Kind): Kind {
  if (kind.is !== 'map') return itemsOf(kind) ?? OTHER;
  const [first = OTHER, ...rest] = Object.values(kind.fields);
  return rest.reduce<Kind>(join, first);
}

/** Whether the root is somewhere in it. */
export function holdsRoot(kind: Kind): boolean {
  if (kind.is === 'root') return true;
  if (kind.is === 'map') return Object.values(kind.fields).some(holdsRoot);
  return kind.is === 'tuple' ? kind.items.some(holdsRoot) : kind.is === 'list' && holdsRoot(kind.items);
}

function own(map: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function isMap(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
