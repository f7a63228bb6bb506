import { EspalierError } from '../api/index.ts';

/**
 * Runs one step against the clock. The step gets a signal to end by; when it does not, the answer is an error all the same:
 * GitTimedOut after `ms`, Aborted when one of `signals` fires first.
 */
export async function withDeadline<T>(
  what: string,
  ms: number,
  signals: (AbortSignal | undefined)[],
  step: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = (error: EspalierError): void => {
    reject(error);
    controller.abort(error);
  };
  const onAbort = (): void => end(new EspalierError('Aborted', `${what} was interrupted.`));
  const seconds = ms < 10_000 ? `${ms / 1000} s` : `${Math.round(ms / 1000)} s`;
  const timer = setTimeout(() => end(new EspalierError('GitTimedOut', `${what} did not end within ${seconds}.`)), ms);
  for (const signal of signals) {
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort);
  }
  try {
    return await Promise.race([step(controller.signal), ended]);
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal?.removeEventListener('abort', onAbort);
  }
}
