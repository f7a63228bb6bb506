import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_MS = 10;

/**
 * For gigabytes that stream by: what has passed is garbage at once, but V8 sees only small handles of it and takes its time. A
 * small nursery that is emptied now and then keeps a check of any size under 100 MB.
 */
export async function withLittleMemory<T>(work: () => Promise<T>): Promise<T> {
  for (const flag of ['--max-semi-space-size=1', '--semi-space-growth-factor=1', '--expose-gc'])
    setFlagsFromString(flag);
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  const timer = setInterval(() => collect({ type: 'minor' }), EVERY_MS).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
