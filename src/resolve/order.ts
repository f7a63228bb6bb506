import type { GraphPlugin, Refusal } from './graph.ts';

/** How many plugins in a row must come before each. A group that goes in a circle counts as one step. */
export function depthsOf(
  groups: readonly string[][],
  edges: ReadonlyMap<string, readonly string[]>,
  known: ReadonlyMap<string, GraphPlugin>,
): Map<string, number> {
  const depths = new Map<string, number>();
  for (const group of groups) {
    let depth = 0;
    const inside = new Set(group);
    for (const key of group) {
      for (const target of edges.get(key) ?? []) {
        if (inside.has(target)) continue;
        depth = Math.max(depth, (depths.get(target) ?? 0) + (known.has(target) ? 1 : 0));
      }
    }
    for (const key of group) depths.set(key, depth);
  }
  return depths;
}

/** Why each plugin that is right itself has to wait, in the order of dependency. */
export function waitingOn(
  order: readonly string[],
  edges: ReadonlyMap<string, readonly string[]>,
  known: ReadonlyMap<string, GraphPlugin>,
  refused: ReadonlyMap<string, Refusal>,
): Map<string, string> {
  const waiting = new Map<string, string>();
  const why = (key: string): string | undefined => {
    if (refused.has(key)) return `${key}, which is refused`;
    const inactive = known.get(key)?.inactive;
    if (inactive !== undefined) return `${key}: ${inactive}`;
    return waiting.has(key) ? `${key}, which waits itself` : undefined;
  };
  for (const key of order) {
    if (refused.has(key) || known.get(key)?.inactive !== undefined) continue;
    const reasons = (edges.get(key) ?? [])
      .flatMap((target) => (known.has(target) ? [target] : (edges.get(target) ?? [])))
      .flatMap((target) => why(target) ?? []);
    if (reasons.length > 0) waiting.set(key, `waits for ${reasons.join('; ')}`);
  }
  return waiting;
}
