import { setTimeout as delay } from 'node:timers/promises';

/** Each look costs a request: from the second on they come at longer and longer intervals. */
const PAUSE_MS = 40;
const LONGEST_PAUSE_MS = 400;
const GROWTH = 1.5;

/**
 * Runs a check until it neither throws nor rejects and returns what it returned.
 * At the deadline it throws what the check threw last, so the message tells what never came true.
 */
export async function eventually<T>(check: () => T | Promise<T>, { timeoutMs = 20_000 } = {}): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let pause = PAUSE_MS;
  while (true) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(pause);
    pause = Math.min(pause * GROWTH, LONGEST_PAUSE_MS);
  }
}

/** Holds when a check stays true for a while: for things that must not happen. */
export async function always(check: () => void | Promise<void>, { forMs = 1_000 } = {}): Promise<void> {
  const deadline = Date.now() + forMs;
  do {
    await check();
    await delay(PAUSE_MS);
  } while (Date.now() < deadline);
}
