export interface Backoff {
  /** Longest wait after the first failure. */
  baseMs: number;
  /** Each further failure multiplies the wait by this. */
  factor: number;
  /** No wait is longer. */
  capMs: number;
  /** Share of a wait that is left to chance, 0 to 1: keys that failed together do not come back together. */
  jitter: number;
}

export const DEFAULT_BACKOFF: Backoff = { baseMs: 1_000, factor: 2, capMs: 5 * 60_000, jitter: 0.3 };

/** How long to wait after so many failures in a row (1 = the first). `random` is in [0, 1). */
export function backoffMs(failures: number, backoff: Backoff, random: number): number {
  const growth = backoff.factor ** Math.max(0, failures - 1);
  const longest = Math.min(backoff.capMs, backoff.baseMs * growth);
  return longest * (1 - backoff.jitter * random);
}
