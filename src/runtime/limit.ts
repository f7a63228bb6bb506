import type { Clock } from './clock.ts';

export interface LimitOptions {
  /** Tasks at once. */
  limit: number;
  clock: Clock;
  /** A task this long lends its place to another, so that those that never end don't hold up the rest. Default 5 s. */
  slowAfterMs?: number;
  /** Tasks at once with all places lent. Default 4 × limit. */
  most?: number;
}

/** Runs a few tasks at a time, in the order in which they came. */
export function createLimit(options: LimitOptions): <T>(task: () => Promise<T>) => Promise<T> {
  const { limit, clock, slowAfterMs = 5_000, most = 4 * limit } = options;
  const line: (() => void)[] = [];
  let running = 0;
  let slow = 0;

  function advance(): void {
    while (line.length > 0 && running - slow < limit && running < most) {
      running++;
      line.shift()?.();
    }
  }

  return async (task) => {
    await new Promise<void>((resolve) => {
      line.push(resolve);
      advance();
    });
    let isSlow = false;
    const timer = clock.setTimeout(() => {
      isSlow = true;
      slow++;
      advance();
    }, slowAfterMs);
    try {
      return await task();
    } finally {
      timer.clear();
      running--;
      if (isSlow) slow--;
      advance();
    }
  };
}
