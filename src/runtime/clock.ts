/** Time as a dependency: everything that waits takes one of these, so a test can live through a day in milliseconds. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  setTimeout(fn: () => void, ms: number): Timer;
}

export interface Timer {
  /** Harmless after the timer fired. */
  clear(): void;
}

/** Node fires a longer timer at once instead of late. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(fn, ms) {
    let left = ms;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const step = Math.min(left, LONGEST_TIMER_MS);
      left -= step;
      handle = setTimeout(left > 0 ? arm : fn, step);
    };
    arm();
    return { clear: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
export function sleep(ms: number, { clock, signal }: { clock: Clock; signal?: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.clear();
      reject(signal?.reason);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
