import { child, dotted } from './describe.ts';
import type { Violation } from './violation.ts';

const MAX_DEPTH = 64;

/**
 * Free-form parts (values, patches, parameters) may hold anything but a key `__proto__`, which no chart needs and which
 * careless merging takes for an object's prototype, and nesting that only an attacker writes.
 */
export function checkHarmless(value: unknown, path = '', depth = 0): Violation[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MAX_DEPTH) {
    const expected = `at most ${MAX_DEPTH} levels`;
    return [{ path, message: `the object is nested too deeply, expected ${expected}`, expected }];
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const place = child(path, key);
    if (key !== '__proto__') return checkHarmless(item, place, depth + 1);
    return [{ path: place, message: `${dotted(place)} is not allowed`, expected: 'another key than __proto__' }];
  });
}
