/**
 * Groups nodes that can reach each other (Tarjan's strongly connected components). A group comes after every group that
 * its edges lead to. Iterative: a chain of ten thousand dependencies must not exhaust the stack.
 */
export function components(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const onPath = new Set<string>();
  const groups: string[][] = [];

  for (const root of edges.keys()) {
    if (index.has(root)) continue;
    const frames: { node: string; next: number }[] = [];
    const enter = (node: string): void => {
      index.set(node, index.size);
      low.set(node, index.size - 1);
      path.push(node);
      onPath.add(node);
      frames.push({ node, next: 0 });
    };
    const lower = (node: string, to: number): void => {
      if (to < (low.get(node) ?? 0)) low.set(node, to);
    };
    enter(root);
    for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
      const { node } = frame;
      const target = edges.get(node)?.[frame.next];
      frame.next += 1;
      if (target !== undefined) {
        const seen = index.get(target);
        if (seen === undefined) enter(target);
        else if (onPath.has(target)) lower(node, seen);
        continue;
      }
      frames.pop();
      const parent = frames.at(-1);
      if (parent !== undefined) lower(parent.node, low.get(node) ?? 0);
      if (low.get(node) !== index.get(node)) continue;
      const group = path.splice(path.lastIndexOf(node));
      for (const member of group) onPath.delete(member);
      groups.push(group);
    }
  }
  return groups;
}
