import { EspalierError } from '../api/errors.ts';

/** The first Ctrl-C (or SIGTERM) aborts the work, which ends in good order; the second one ends the process at once. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(new EspalierError('Aborted', 'interrupted; run it again to go on'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
