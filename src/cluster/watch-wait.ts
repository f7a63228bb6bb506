import type { EspalierError } from '../api/index.ts';

/** Why a list or watch ended before its time. */
export type WatchTrouble =
  /** The position is too old: list again. */
  | { kind: 'gone'; error: EspalierError }
  /** The kind is not served: its CRD is not there yet, or not any more. */
  | { kind: 'unknown'; error: EspalierError }
  | { kind: 'failed'; error: EspalierError }
  /** The server closed the stream at once, without an error. */
  | { kind: 'short' };

const FIRST_MS = 200;
const LONGEST_MS = 10_000;
const LONGEST_UNKNOWN_MS = 30_000;

/**
 * How long to wait before the next try. The first comes soon, for most connections break only once; then the wait
 * doubles, with jitter so that all watches of a restarted server don't return together. A missing kind is asked for
 * slowly: its CRD usually comes from us, and then `wake` is called.
 */
export function nextWait(trouble: WatchTrouble, failures: number, random: () => number): number {
  if (trouble.kind === 'unknown') {
    return Math.min(LONGEST_UNKNOWN_MS, 1_000 * 1.5 ** (failures - 1)) * (0.8 + random() * 0.4);
  }
  const asked = trouble.kind === 'failed' ? (trouble.error.retryAfterMs ?? 0) : 0;
  const step = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
  return Math.max(asked, step * (0.25 + random() * 0.75));
}
