import type { EspalierError } from '../api/index.ts';

/**
 * `repeatable`: sending it twice comes to the same as sending it once (reads, server-side apply, deletes, dry runs), so
 * it is tried again whatever went wrong on the way. `once`: creates, updates and patches, tried again only when the
 * server says that it did not take the request up.
 */
export type Repeat = 'repeatable' | 'once';

const MOST_ATTEMPTS = 4;
/** The caller's queue waits better than a request that holds a worker. */
const LONGEST_WAIT_MS = 10_000;

/** How long to wait before trying again, or undefined to give up. */
export function retryDelay(
  error: EspalierError,
  repeat: Repeat,
  attempt: number,
  random: () => number,
): number | undefined {
  if (attempt >= MOST_ATTEMPTS || !worthRetrying(error, repeat)) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > LONGEST_WAIT_MS) return undefined;
  // Full jitter, on top of what the server asked for: everyone else was told the same.
  return asked + random() * Math.min(2_000, 100 * 2 ** attempt);
}

function worthRetrying(error: EspalierError, repeat: Repeat): boolean {
  switch (error.code) {
    case 'KubeThrottled':
      return true;
    case 'KubeUnreachable':
      return repeat === 'repeatable' || error.data.sent === false;
    case 'KubeServerError':
      return repeat === 'repeatable' || (error.data.status === 503 && error.retryAfterMs !== undefined);
    case 'KubeTimedOut':
      // Our own deadline has passed: the caller decides whether to spend another one.
      return repeat === 'repeatable' && error.data.status === 504;
    case 'KubeBadAnswer':
      return repeat === 'repeatable' && 'sent' in error.data;
    default:
      return false;
  }
}
