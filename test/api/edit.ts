import type { JsonObject, KubeObject } from '../../src/api/index.ts';

/** A copy of an object with one place changed; `undefined` removes it. Mappings on the way are made where missing. */
export function edit(object: KubeObject, path: string, value: unknown): KubeObject {
  const copy = structuredClone(object);
  const steps = path.slice(1).split('/');
  const last = steps.pop() ?? '';
  let place = copy as unknown as JsonObject;
  for (const step of steps) {
    const unescaped = unescapeStep(step);
    if (typeof place[unescaped] !== 'object' || place[unescaped] === null) place[unescaped] = {};
    place = place[unescaped] as JsonObject;
  }
  if (value === undefined) delete place[unescapeStep(last)];
  else
    Object.defineProperty(place, unescapeStep(last), { value, enumerable: true, writable: true, configurable: true });
  return copy;
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** What stands at a place of an object. */
export function valueAt(object: unknown, path: string): unknown {
  const steps = path.split('/').slice(1).map(unescapeStep);
  return steps.reduce<unknown>((place, step) => (place as JsonObject | undefined)?.[step], object);
}
