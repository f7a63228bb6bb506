import type { PlannedPull, Sync } from '../../api/index.ts';
import type { SyncParts } from '../sync-parts.ts';

/** Closed ones are remembered for the commits that they become. */
const CLOSED_KEPT = 20;
const OPEN_KEPT = 100;
/** Objects of all plans together: a Sync's status must stay small. */
const SHOWN_KEPT = 1_000;

export function pullOnRecord(sync: Sync | undefined, number: number): PlannedPull | undefined {
  return sync?.status?.pullRequests?.find((pull) => pull.number === number);
}

/** Changes what is on record of the pull requests of a Sync. */
export async function changePulls(
  parts: SyncParts,
  key: string,
  change: (pulls: readonly PlannedPull[]) => readonly PlannedPull[],
): Promise<void> {
  await parts.statuses.change(key, ({ status }) => ({
    ...status,
    pullRequests: kept(change(status?.pullRequests ?? [])),
  }));
}

export function withPull(pulls: readonly PlannedPull[], pull: PlannedPull): PlannedPull[] {
  return [pull, ...pulls.filter(({ number }) => number !== pull.number)].toSorted((a, b) => b.number - a.number);
}

function kept(pulls: readonly PlannedPull[]): PlannedPull[] {
  const open = pulls.filter(({ closed }) => closed !== true).slice(0, OPEN_KEPT);
  const closed = pulls.filter((pull) => pull.closed === true).slice(0, CLOSED_KEPT);
  let shown = 0;
  const small = [...open, ...closed].map((pull) => {
    shown += pull.shown.length;
    return shown > SHOWN_KEPT ? { ...pull, shown: [] } : pull;
  });
  return small.toSorted((a, b) => b.number - a.number);
}
