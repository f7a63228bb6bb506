import { EspalierError, type Json, type JsonObject } from '../api/index.ts';
import type { FieldPath, PathElement } from './field-path.ts';
import { stepInto } from './field-path.ts';
import { fieldOf, isEqual, isObject } from './json.ts';

/**
 * A JSON pointer (RFC 6901) with two additions, because lists in Kubernetes are told by keys rather than by place:
 * `*` stands for any one step, and `name=app` (or `containerPort=80,protocol=UDP`) for the list item with these fields.
 */
export type Pointer = readonly string[];

export function parsePointer(text: string): Pointer {
  if (!text.startsWith('/') || text.length < 2) {
    throw new EspalierError('InvalidDeclaration', `"${text}" is not a JSON pointer such as /spec/replicas`, {
      retry: false,
    });
  }
  return text
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** True when the pointer names the path or something that the path lies in. The object tells which item a number means. */
export function coversPath(pointer: Pointer, path: FieldPath, object: JsonObject): boolean {
  if (pointer.length > path.length) return false;
  let value: Json | undefined = object;
  for (const [depth, segment] of pointer.entries()) {
    const element = path[depth];
    if (element === undefined || !namesElement(segment, element, value)) return false;
    value = stepInto(value, element);
  }
  return true;
}

function namesElement(segment: string, element: PathElement, parent: Json | undefined): boolean {
  if (segment === '*') return true;
  if ('field' in element) return segment === element.field;
  if ('index' in element) return segment === String(element.index);
  const isNumber = /^\d+$/.test(segment);
  const meant = isNumber && Array.isArray(parent) ? parent[Number(segment)] : undefined;
  if ('value' in element) return isNumber ? isEqual(meant, element.value) : segment === String(element.value);
  if (isNumber) return meant !== undefined && isEqual(stepInto(parent, element), meant);
  return isItem(element.key, segment);
}

/** Every path of a value that the pointer names, as the items' places in their lists. */
export function resolvePointer(value: Json, pointer: Pointer): (string | number)[][] {
  const [segment, ...rest] = pointer;
  if (segment === undefined) return [[]];
  const steps: [string | number, Json][] = [];
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      if (segment === '*' || segment === String(index) || isItem(item, segment)) steps.push([index, item]);
    });
  } else if (isObject(value)) {
    for (const name of segment === '*' ? Object.keys(value) : [segment]) {
      const child = fieldOf(value, name);
      if (child !== undefined) steps.push([name, child]);
    }
  }
  return steps.flatMap(([step, child]) => resolvePointer(child, rest).map((path) => [step, ...path]));
}

function isItem(item: Json, segment: string): boolean {
  const pairs = segment.split(',').map((pair) => pair.split('='));
  return (
    isObject(item) &&
    pairs.every(([name = '', ...value]) => {
      const field = fieldOf(item, name);
      return value.length > 0 && field !== undefined && String(field) === value.join('=');
    })
  );
}
