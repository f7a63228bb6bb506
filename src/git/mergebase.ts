/** What a walk through history needs of a commit; undefined when it is not stored. */
export type LookUp = (oid: string) => Promise<{ parents: string[]; committedAt: string } | undefined>;

export type MergeBase =
  | { state: 'found'; commit: string }
  /** The two have no history in common. */
  | { state: 'none' }
  /** More history would have to be fetched than the limits allow. */
  | { state: 'unknown' };

const FROM_A = 1;
const FROM_B = 2;
const BOTH = 3;
/** Before a common ancestor: common too, but no better. */
const STALE = 4;

interface Seen {
  oid: string;
  reached: number;
  /** A commit that is not stored has none. */
  parents?: string[];
  at: number;
  best: boolean;
  queued: boolean;
}

/**
 * The best common ancestor of two commits, as far as the stored part of history tells; `open` when what is not stored could
 * change the answer. Of several (branches that were merged into each other) the newest, which is the one that `git merge-base`
 * names. Looks at the newest commits first and at no more than it must.
 */
export async function findMergeBase(
  lookUp: LookUp,
  a: string,
  b: string,
  limit: number,
): Promise<Exclude<MergeBase, { state: 'unknown' }> | 'open'> {
  const seen = new Map<string, Seen>();
  const queue: Seen[] = [];
  const bests: Seen[] = [];
  let looked = 0;
  // How many there are in the queue, and not stored, that are not known to be common.
  let [waiting, missing] = [0, 0];

  async function reach(oid: string, how: number): Promise<void> {
    let commit = seen.get(oid);
    if (commit === undefined) {
      const found = looked++ < limit ? await lookUp(oid) : undefined;
      commit = {
        oid,
        reached: 0,
        at: found === undefined ? 0 : Date.parse(found.committedAt),
        best: false,
        queued: false,
        ...(found === undefined ? {} : { parents: found.parents }),
      };
      seen.set(oid, commit);
      if (found === undefined) missing += 1;
    }
    if ((commit.reached | how) === commit.reached) return;
    const wasStale = isStale(commit);
    commit.reached |= how;
    if (commit.parents === undefined) {
      if (!wasStale && isStale(commit)) missing -= 1;
      return;
    }
    if (commit.queued) {
      if (!wasStale && isStale(commit)) waiting -= 1;
      return;
    }
    commit.queued = true;
    insertByAge(queue, commit);
    if (!isStale(commit)) waiting += 1;
  }

  await reach(a, FROM_A);
  await reach(b, FROM_B);
  // With one best and nothing left but its ancestors the answer stands; what is missing may still turn out to be among them.
  while (queue.length > 0 && (waiting > 0 || missing > 0 || bests.filter((best) => !isStale(best)).length > 1)) {
    const commit = queue.shift();
    if (commit === undefined) break;
    commit.queued = false;
    if (!isStale(commit)) waiting -= 1;
    let how = commit.reached;
    if (how === BOTH) {
      // One of the two descends from the other: nothing that is missing can be better.
      if (commit.oid === a || commit.oid === b) return { state: 'found', commit: commit.oid };
      if (!commit.best) bests.push(commit);
      commit.best = true;
      how = BOTH | STALE;
    }
    for (const parent of commit.parents ?? []) await reach(parent, how);
  }
  const [best, ...more] = bests.filter((commit) => !isStale(commit)).sort((x, y) => y.at - x.at);
  // Of several one may come before another by way of something that is not stored.
  const isPartial = more.length > 0 && [...seen.values()].some(({ parents }) => parents === undefined);
  if (missing > 0 || isPartial) return 'open';
  return best === undefined ? { state: 'none' } : { state: 'found', commit: best.oid };
}

function isStale(commit: Seen): boolean {
  return (commit.reached & STALE) !== 0;
}

/** The newest first; of equal ones the one that came first. */
function insertByAge(queue: Seen[], commit: Seen): void {
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queue[middle]?.at ?? 0) >= commit.at) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, commit);
}
