import { setTimeout as delay } from 'node:timers/promises';
import { EspalierError } from '../api/index.ts';

const PAUSE_MS = 50;

/** Asks until the answer is true; `what` completes "… took too long" in the error at the deadline. */
export async function waitFor(
  what: string,
  isTrue: () => Promise<boolean>,
  options: { timeoutMs: number; signal?: AbortSignal | undefined; hint?: string },
): Promise<void> {
  const deadline = Date.now() + options.timeoutMs;
  while (!(await isTrue())) {
    if (options.signal?.aborted) throw new EspalierError('Aborted', `stopped while waiting: ${what}`);
    if (Date.now() > deadline) {
      throw new EspalierError(
        'PlaygroundFailed',
        `${what} took more than ${options.timeoutMs / 1000} s. ${options.hint ?? ''}`.trimEnd(),
      );
    }
    await delay(PAUSE_MS);
  }
}
