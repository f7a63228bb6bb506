import { canonicalJson, describeRef, type KubeObject, refKey, refOf } from '../api/index.ts';

const MOST = 5;

/** What differs between the objects of an add-on and those of its chart, for people; nothing where they are the same. */
export function differences(addon: readonly KubeObject[], chart: readonly KubeObject[]): string[] {
  const [ours, theirs] = [byKey(addon), byKey(chart)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].sort().flatMap((key) => {
    const [a, b] = [ours.get(key), theirs.get(key)];
    if (a === undefined || b === undefined)
      return [`${describeRef(refOf((a ?? b) as KubeObject))} is in the ${a === undefined ? 'chart' : 'add-on'} only`];
    return [...fieldDifferences(a, b, '')].slice(0, MOST).map((one) => `${describeRef(refOf(a))}: ${one}`);
  });
}

function byKey(objects: readonly KubeObject[]): Map<string, KubeObject> {
  return new Map(objects.map((object) => [refKey(refOf(object)), object]));
}

function* fieldDifferences(a: unknown, b: unknown, path: string): Generator<string> {
  if (isMap(a) && isMap(b)) {
    for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort())
      yield* fieldDifferences(a[name], b[name], path === '' ? name : `${path}.${name}`);
  } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    for (const [index, item] of a.entries()) yield* fieldDifferences(item, b[index], `${path}[${index}]`);
  } else if (exact(a) !== exact(b)) {
    yield `${path} is ${shown(a)} in the add-on, ${shown(b)} in the chart`;
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
