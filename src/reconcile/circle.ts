import type { Plugin } from '../api/index.ts';
import { shortestCycle } from '../resolve/cycle.ts';
import { dependenciesOf } from './dependents.ts';

export interface CircleInput {
  plugin(key: string): Plugin | undefined;
  /** What is nested in a Plugin: it is ready only after that. */
  children(key: string): readonly string[];
}

/** Why a Plugin can never be ready: it waits for itself in the end, by what it names in `dependsOn` and by what is nested. */
export function circleThrough(key: string, { plugin, children }: CircleInput): string | undefined {
  const edges = {
    get(one: string): string[] {
      const found = plugin(one);
      return found === undefined ? [] : [...dependenciesOf(found), ...children(one)];
    },
  };
  const way = shortestCycle(edges, key, { has: () => true });
  if (way === undefined) return undefined;
  const own = key.slice(0, key.indexOf('/') + 1);
  const names = way.map((one) => (one.startsWith(own) ? one.slice(own.length) : one));
  return `dependsOn goes in a circle: ${names.join(' → ')}`;
}
