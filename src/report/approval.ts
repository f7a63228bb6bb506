export interface Said {
  author: string;
  body: string;
  writtenAt: number;
  edited: boolean;
}

/** Shorter beginnings of a commit id are made in seconds by whoever wants another commit to pass for it. */
const SHORTEST_COMMIT = 7;
const COMMAND = /^[ \t]*\/espalier[ \t]+(approve|plan)(?:[ \t]+([0-9a-f]{7,64}))?[ \t]*$/im;

/**
 * Comments that ask for something about a head commit, the newest last. A commit that is named must be that one. What
 * is approved is what was shown: an approval must have been written after the plan, and after what was heard already.
 * A plan is asked for by naming the commit. Edited comments don't count: others than their author may edit them.
 */
export function asksFor(
  what: 'approve' | 'plan',
  comments: readonly Said[],
  head: string,
  shownAt: number | undefined,
  heardUntil = Number.NEGATIVE_INFINITY,
): Said[] {
  return comments.filter(({ body, edited, writtenAt }) => {
    const found = edited || writtenAt <= heardUntil ? null : COMMAND.exec(body);
    if (found === null || found[1]?.toLowerCase() !== what) return false;
    const commit = found[2]?.toLowerCase();
    if (commit !== undefined && (commit.length < SHORTEST_COMMIT || !head.startsWith(commit))) return false;
    return what === 'plan' ? commit !== undefined : shownAt !== undefined && writtenAt >= shownAt;
  });
}
