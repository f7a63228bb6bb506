import type { KubeObject } from '../../src/api/index.ts';
import { edit } from './edit.ts';
import type { Case } from './faults.ts';

/** What somebody may write in place of any value. */
const INSTEAD: [string, unknown][] = [
  ['nothing', null],
  ['an empty text', ''],
  ['a short word', 'x'],
  ['a long text', 'a'.repeat(5000)],
  ['a negative number', -1],
  ['a fraction', 1.5],
  ['true', true],
  ['an empty list', []],
  ['a list of lists', [[]]],
  ['an empty mapping', {}],
  ['a mapping of unknown fields', { unknown: 1 }],
];

/** Each object with each of its values, one at a time, left out or replaced by everything else; every field once. */
export function mutations(samples: readonly KubeObject[]): Case[] {
  const seen = new Set<string>();
  return samples.flatMap((sample) => {
    const places = placesIn(sample.spec, '/spec').filter((path) => {
      const field = `${sample.kind}${path.replace(/\/[0-9]+/g, '/0')}`;
      return !seen.has(field) && seen.add(field);
    });
    return places.flatMap((path) => mutationsAt(sample, path));
  });
}

function mutationsAt(sample: KubeObject, path: string): Case[] {
  const place = `${path} of ${sample.kind} ${sample.metadata.name}`;
  return [
    { title: `${place} left out`, object: edit(sample, path, undefined) },
    ...INSTEAD.map(([what, value]) => ({ title: `${place} is ${what}`, object: edit(sample, path, value) })),
  ];
}

function placesIn(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([step, item]) =>
    placesIn(item, `${path}/${step.replaceAll('/', '~1')}`),
  );
  return [path, ...below];
}
