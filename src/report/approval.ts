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
 * Comments that ask for something about a head commit, the newest last. A named commit must be that one; an approval
 * that names none counts when it was written after the head had been planned. Edited comments don't count: others
 * than their author may edit them.
 */
export function asksFor(
  what: 'approve' | 'plan',
  comments: readonly Said[],
  head: string,
  plannedAt: number | undefined,
  /** Up to then, everything has been heard and doesn't count any more. */
  voided = Number.NEGATIVE_INFINITY,
): Said[] {
  return comments.filter(({ body, edited, writtenAt }) => {
    const found = edited || writtenAt <= voided ? null : COMMAND.exec(body);
    if (found === null || found[1]?.toLowerCase() !== what) return false;
    const commit = found[2]?.toLowerCase();
    if (commit !== undefined) return commit.length >= SHORTEST_COMMIT && head.startsWith(commit);
    return what === 'approve' && plannedAt !== undefined && writtenAt >= plannedAt;
  });
}
