import type { Verdict } from './verdict.ts';

/** Progress that is told on the way: seldom, and ever more seldom. */
const PROGRESS_MS = 30_000;
const LONGEST_PROGRESS_MS = 30 * 60_000;
/** What comes and goes for ever must not use up what a forge allows. */
const FREE_CHANGES = 8;
/** A failure that goes away at once was none. */
const DOUBT_MS = 2_000;

export interface Saying {
  /** What was said last under this context on this commit. */
  before: Verdict | undefined;
  next: Verdict;
  /** Since when `next` has been what is to be said, in milliseconds. */
  heldMs: number;
  /** Since when `before` has been said, and how often something was. */
  saidMs: number;
  times: number;
  /** Time can't heal it: nothing but another commit does. */
  isSure: boolean;
}

/**
 * Whether to say it now, in how many milliseconds, or not at all. One pending and one final state for each commit:
 * never back to pending, no repeats, and no failure that the next moment takes back.
 */
export function paceOf({ before, next, heldMs, saidMs, times, isSure }: Saying): { inMs: number } | 'never' {
  if (before !== undefined && before.state === next.state && before.description === next.description) return 'never';
  if (before !== undefined && before.state !== 'pending' && next.state === 'pending') return 'never';
  const doubt = isFailure(next) && !isSure ? DOUBT_MS - heldMs : 0;
  const isNews = before === undefined || before.state !== next.state;
  const pause = pauseAfter(isNews ? times - FREE_CHANGES : times);
  return { inMs: Math.max(0, doubt, pause - saidMs) };
}

/** After so many times, what comes next has to wait. */
function pauseAfter(times: number): number {
  return times <= 0 ? 0 : Math.min(PROGRESS_MS * 2 ** Math.min(times - 1, 20), LONGEST_PROGRESS_MS);
}

function isFailure({ state }: Verdict): boolean {
  return state === 'failure' || state === 'error';
}
