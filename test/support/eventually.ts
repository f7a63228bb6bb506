import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MS = 25;

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
    pause = Math.min(pause * 1.3, 250);
  }
}

/** Holds when a check stays true for a while: for things that must not happen. */
export async function always(check: () => void | Promise<void>, { forMs = 1_000 } = {}): Promise<void> {
  const deadline = Date.now() + forMs;
  do {
    await check();
    await delay(PAUSE_MS * 2);
  } while (Date.now() < deadline);
}
