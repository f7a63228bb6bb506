import { hash } from 'node:crypto';
import type { Json, JsonObject, ManagedFieldsEntry } from '../api/index.ts';
import { canonicalJson } from '../api/index.ts';
import { type FieldPath, type PathElement, parseElement, stepInto, writeElement } from './field-path.ts';
import { fieldOf, isObject, setField } from './json.ts';

/**
 * Sets of field paths in the form of managedFields (`FieldsV1`): a tree whose keys are path elements. A path is a
 * member when its node is empty or holds `"."`.
 */
const SELF = '.';

export function pathsOf(fields: JsonObject): FieldPath[] {
  const paths: FieldPath[] = [];
  collect(fields, [], paths);
  return paths;
}

function collect(node: JsonObject, path: readonly PathElement[], paths: FieldPath[]): void {
  if (path.length > 0 && isMember(node)) paths.push(path);
  for (const name of Object.keys(node)) {
    if (name !== SELF) collect(childOf(node, name) ?? {}, [...path, parseElement(name)], paths);
  }
}

/** The set that has exactly these members. */
export function fieldsFrom(paths: readonly FieldPath[]): JsonObject {
  const root: JsonObject = {};
  const members = new Set<JsonObject>();
  for (const path of paths) {
    let node = root;
    for (const element of path) node = childOf(node, writeElement(element)) ?? addChild(node, writeElement(element));
    if (node !== root) members.add(node);
  }
  for (const node of members) if (Object.keys(node).length > 0) node[SELF] = {};
  return root;
}

/** Members of `a` that are not members of `b`. */
export function subtractFields(a: JsonObject, b: JsonObject): JsonObject {
  return subtractNode(a, b) ?? {};
}

function subtractNode(a: JsonObject, b: JsonObject | undefined): JsonObject | undefined {
  if (b === undefined) return a;
  const rest: JsonObject = {};
  for (const name of Object.keys(a)) {
    if (name === SELF) continue;
    const child = subtractNode(childOf(a, name) ?? {}, childOf(b, name));
    if (child !== undefined) setField(rest, name, child);
  }
  const hasChildren = Object.keys(rest).length > 0;
  if (isMember(a) && !isMember(b)) return hasChildren ? { [SELF]: {}, ...rest } : {};
  return hasChildren ? rest : undefined;
}

export function uniteFields(a: JsonObject, b: JsonObject): JsonObject {
  const united = uniteNode(a, b);
  return Object.keys(united).length === 1 && SELF in united ? {} : united;
}

function uniteNode(a: JsonObject, b: JsonObject): JsonObject {
  const united: JsonObject = {};
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (name === SELF) continue;
    const [one, other] = [childOf(a, name), childOf(b, name)];
    setField(united, name, one && other ? uniteNode(one, other) : (one ?? other ?? {}));
  }
  const hasChildren = Object.keys(united).length > 0;
  return hasChildren && (isMember(a) || isMember(b)) ? { [SELF]: {}, ...united } : united;
}

/** Whether the path itself is in the set, or, for a leaf of the set, a path that it covers. */
export function holdsPath(fields: JsonObject, path: FieldPath): boolean {
  let node: JsonObject | undefined = fields;
  for (const [depth, element] of path.entries()) {
    node = childOf(node, writeElement(element));
    if (node === undefined) return false;
    // A list or map that is owned as one piece has no children in the set.
    if (depth < path.length - 1 && Object.keys(node).length === 0) return true;
  }
  return true;
}

/** The part of an object that a set of fields covers: what an apply of just these fields would send. */
export function extractFields(object: JsonObject, fields: JsonObject): JsonObject {
  const part = extractNode(object, fields);
  return isObject(part) ? part : {};
}

function extractNode(value: Json, node: JsonObject): Json | undefined {
  const names = Object.keys(node).filter((name) => name !== SELF);
  if (names.length === 0) return value;
  if (Array.isArray(value)) {
    const items = names.map((name) => {
      const item = stepInto(value, parseElement(name));
      return item === undefined ? undefined : extractNode(item, childOf(node, name) ?? {});
    });
    return items.filter((item) => item !== undefined);
  }
  if (!isObject(value)) return undefined;
  const part: JsonObject = {};
  for (const name of names) {
    const element = parseElement(name);
    const child = stepInto(value, element);
    const inner = child === undefined ? undefined : extractNode(child, childOf(node, name) ?? {});
    if ('field' in element && inner !== undefined) setField(part, element.field, inner);
  }
  return part;
}

/** What one manager holds by server-side apply: its fields, and the API version they are written in. */
export function appliedFields(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  manager: string,
): { apiVersion: string; fields: JsonObject } | undefined {
  const entry = managedFields?.find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  );
  return entry === undefined ? undefined : { apiVersion: entry.apiVersion ?? '', fields: entry.fieldsV1 ?? {} };
}

/** Short enough for a status that lists a thousand objects; two sets with the same hash are the same for our purposes. */
export function hashFields(fields: JsonObject): string {
  return hash('sha256', canonicalJson(fields), 'base64url').slice(0, 16);
}

function isMember(node: JsonObject): boolean {
  return SELF in node || Object.keys(node).length === 0;
}

function childOf(node: JsonObject | undefined, name: string): JsonObject | undefined {
  const child = fieldOf(node, name);
  return isObject(child) ? child : undefined;
}

function addChild(node: JsonObject, name: string): JsonObject {
  const child: JsonObject = {};
  setField(node, name, child);
  return child;
}
