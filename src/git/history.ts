/** Parents of a commit; undefined when it is not stored. */
export type ParentsOf = (oid: string) => Promise<string[] | undefined>;

/**
 * Whether `old` is among the ancestors of `young`, as far as the stored part of history tells; `open` when what is not stored
 * could change the answer. A commit that is not stored but comes before `old` can't lead to it, so it leaves nothing open.
 */
export async function descends(
  parentsOf: ParentsOf,
  old: string,
  young: string,
  limit: number,
): Promise<'yes' | 'no' | 'open'> {
  const missing = new Set<string>();
  for await (const { oid, stored } of ancestors(parentsOf, young, limit)) {
    if (oid === old) return 'yes';
    if (!stored) missing.add(oid);
  }
  if (missing.size === 0) return 'no';
  for await (const { oid } of ancestors(parentsOf, old, limit)) {
    missing.delete(oid);
    if (missing.size === 0) return 'no';
  }
  return 'open';
}

/**
 * The commits on the way of first parents from `young` back to `old`, which is not among them; the newest first and at most
 * `limit`. Ends where stored history does: it led to `old` only if that is the last one's first parent.
 */
export async function firstParents<T extends { oid: string; parents: string[] }>(
  lookUp: (oid: string) => Promise<T | undefined>,
  young: string,
  old: string,
  limit: number,
): Promise<T[]> {
  const way: T[] = [];
  for (let next: string | undefined = young; next !== undefined && next !== old && way.length < limit; ) {
    const commit: T | undefined = await lookUp(next);
    if (commit === undefined) break;
    way.push(commit);
    next = commit.parents[0];
  }
  return way;
}

/** A commit and everything before it, each once; at most `limit` of them, and what lies beyond counts as not stored. */
async function* ancestors(
  parentsOf: ParentsOf,
  start: string,
  limit: number,
): AsyncGenerator<{ oid: string; stored: boolean }> {
  const seen = new Set([start]);
  // A Set goes on to what is added while it is walked.
  for (const oid of seen) {
    const parents = seen.size > limit ? undefined : await parentsOf(oid);
    yield { oid, stored: parents !== undefined };
    for (const parent of parents ?? []) seen.add(parent);
  }
}
