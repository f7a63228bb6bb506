import { isError } from '../api/index.ts';

/**
 * What to do about a run that failed. `backoff`: again, later each time, and not before `atLeastMs`. `slow`: trying
 * again unchanged can't help, so at the longest wait only (nothing is terminal). `forget`: there is nothing left to run.
 */
export type Verdict = { retry: 'backoff'; atLeastMs?: number } | { retry: 'slow' } | { retry: 'forget' };

/** What the error itself says about trying again. */
export function verdictOf(error: unknown): Verdict {
  if (!isError(error)) return { retry: 'backoff' };
  if (!error.retry) return { retry: 'slow' };
  return error.retryAfterMs === undefined ? { retry: 'backoff' } : { retry: 'backoff', atLeastMs: error.retryAfterMs };
}
