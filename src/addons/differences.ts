import { canonicalJson, describeRef, type KubeObject, refKey, refOf } from '../api/index.ts';

const MOST = 5;

export interface Difference {
  /** An object, and a field of it: `Secret web: data.password`. */
  place: string;
  /** For people. */
  text: string;
}

/**
 * What differs between the objects of an add-on and those of its chart; nothing where they are the same. Places to pass
 * over are those of `differingPlaces`.
 */
export function differences(
  addon: readonly KubeObject[],
  chart: readonly KubeObject[],
  passOver: ReadonlySet<string> = new Set(),
): Difference[] {
  const [ours, theirs] = [byKey(addon), byKey(chart)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].sort().flatMap((key) => {
    const [a, b] = [ours.get(key), theirs.get(key)];
    if (a === undefined || b === undefined) {
      const place = describeRef(refOf((a ?? b) as KubeObject));
      return [{ place, text: `${place} is in the ${a === undefined ? 'chart' : 'add-on'} only` }];
    }
    const fields = [...fieldDifferences(a, b, '')].map(({ path, how }) => ({ place: placeOf(a, path), how }));
    const told = fields.filter(({ place }) => !passOver.has(place)).slice(0, MOST);
    return told.map(({ place, how }) => ({ place, text: `${place} ${how}` }));
  });
}

/** Fields of objects that are in both and are not the same. */
export function differingPlaces(one: readonly KubeObject[], other: readonly KubeObject[]): Set<string> {
  const others = byKey(other);
  const places = one.flatMap((a) => {
    const b = others.get(refKey(refOf(a)));
    return b === undefined ? [] : [...fieldDifferences(a, b, '')].map(({ path }) => placeOf(a, path));
  });
  return new Set(places);
}

function placeOf(object: KubeObject, path: string): string {
  return `${describeRef(refOf(object))}: ${path}`;
}

function byKey(objects: readonly KubeObject[]): Map<string, KubeObject> {
  return new Map(objects.map((object) => [refKey(refOf(object)), object]));
}

interface FieldDifference {
  path: string;
  how: string;
}

function* fieldDifferences(a: unknown, b: unknown, path: string): Generator<FieldDifference> {
  if (isMap(a) && isMap(b)) {
    for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort())
      yield* fieldDifferences(a[name], b[name], path === '' ? name : `${path}.${name}`);
  } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const [index, item] of a.entries()) yield* fieldDifferences(item, b[index], `${path}[${index}]`);
  } else if (exact(a) !== exact(b)) {
    yield { path, how: `is ${shown(a)} in the add-on, ${shown(b)} in the chart` };
  }
}

function exact(value: unknown): string {
  return value === undefined ? 'absent' : canonicalJson(value);
}

function shown(value: unknown): string {
  const text = exact(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
