import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for what other processes do; fails with its own text when it does not come. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`);
    await sleep(20);
  }
}
