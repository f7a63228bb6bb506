import type { GraphPlugin, Refusal } from './graph.ts';

const LONGEST_PATH = 12;
const OWN_PATH_UP_TO = 200;

/** A refusal for every plugin that depends on itself in the end, with the way that leads back to it. */
export function cyclesIn(
  groups: readonly string[][],
  edges: ReadonlyMap<string, readonly string[]>,
  known: ReadonlyMap<string, GraphPlugin>,
  labels: ReadonlyMap<string, string>,
): Map<string, Refusal> {
  const refusals = new Map<string, Refusal>();
  for (const group of groups) {
    const members = group.filter((key) => known.has(key)).sort();
    const [first = ''] = members;
    const inside = new Set(group);
    const shared = shortestCycle(edges, first, inside);
    if (shared === undefined) continue;
    for (const key of members) {
      const own = members.length <= OWN_PATH_UP_TO ? shortestCycle(edges, key, inside) : undefined;
      const namespace = known.get(key)?.namespace ?? '';
      const names = shortened(own ?? shared).map((step) => labels.get(step) ?? shortName(step, namespace));
      refusals.set(key, { code: 'DependencyCycle', message: `dependsOn goes in a circle: ${names.join(' → ')}` });
    }
  }
  return refusals;
}

function shortened(way: readonly string[]): string[] {
  return way.length <= LONGEST_PATH ? [...way] : [...way.slice(0, LONGEST_PATH - 2), '…', ...way.slice(-1)];
}

function shortName(key: string, namespace: string): string {
  return key.startsWith(`${namespace}/`) ? key.slice(namespace.length + 1) : key;
}

/** The shortest way from a node back to itself through some nodes, itself first and last; undefined when there is none. */
export function shortestCycle(
  edges: Pick<ReadonlyMap<string, readonly string[]>, 'get'>,
  start: string,
  inside: Pick<ReadonlySet<string>, 'has'>,
): string[] | undefined {
  const cameFrom = new Map<string, string>();
  let frontier = [start];
  while (frontier.length > 0) {
    const next: string[] = [];
    for (const node of frontier) {
      for (const target of edges.get(node) ?? []) {
        if (target === start) return wayTo(cameFrom, start, node);
        if (cameFrom.has(target) || !inside.has(target)) continue;
        cameFrom.set(target, node);
        next.push(target);
      }
    }
    frontier = next;
  }
  return undefined;
}

function wayTo(cameFrom: ReadonlyMap<string, string>, start: string, end: string): string[] {
  const way = [start];
  for (let node: string | undefined = end; node !== undefined && node !== start; node = cameFrom.get(node))
    way.push(node);
  return [...way, start].reverse();
}
