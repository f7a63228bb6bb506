import { EspalierError } from '../api/index.ts';

/** The part of a clock that this room needs; `systemClock` and a test's fake one both fit. */
export interface Clock {
  now(): number;
  setTimeout(fn: () => void, ms: number): { clear(): void };
}

export const wallClock: Clock = {
  now: Date.now,
  setTimeout(fn, ms) {
    const timer = setTimeout(fn, ms);
    return { clear: () => clearTimeout(timer) };
  },
};

/** Resolves after `ms`, or at once when the signal aborts: the caller looks at the signal. */
export function pause(ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      timer.clear();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = clock.setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** As the promise, but `Aborted` as soon as the signal aborts: for work that others share and that goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new EspalierError('Aborted', 'aborted', { cause: signal.reason }));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits that somebody can cut short. */
export interface Sleeper {
  sleep(ms: number): Promise<void>;
  /** Ends the current wait, or the next one when there is none now. */
  wake(): void;
}

export function createSleeper(clock: Clock, signal: AbortSignal): Sleeper {
  let cut: (() => void) | undefined;
  let cutNext = false;
  return {
    sleep(ms) {
      if (cutNext || signal.aborted) {
        cutNext = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const finish = () => {
          timer.clear();
          signal.removeEventListener('abort', finish);
          cut = undefined;
          resolve();
        };
        const timer = clock.setTimeout(finish, ms);
        cut = finish;
        signal.addEventListener('abort', finish, { once: true });
      });
    },
    wake() {
      if (cut === undefined) cutNext = true;
      else cut();
    },
  };
}

/**
 * Milliseconds that never go back, counting whatever passed: the monotonic clock misses a suspended machine, the wall
 * clock can be set back, so each step takes the longer of the two. Too much only makes a lease end early.
 */
export function createSteadyClock(
  monotonic: () => number = () => performance.now(),
  wall: () => number = Date.now,
): () => number {
  let lastMonotonic = monotonic();
  let lastWall = wall();
  let elapsed = 0;
  return () => {
    const nextMonotonic = monotonic();
    const nextWall = wall();
    elapsed += Math.max(nextMonotonic - lastMonotonic, nextWall - lastWall, 0);
    lastMonotonic = nextMonotonic;
    lastWall = nextWall;
    return elapsed;
  };
}

/** Kubernetes' MicroTime: microseconds, of which we know the thousands. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, '000Z');
}
