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
