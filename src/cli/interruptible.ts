import { EspalierError } from '../api/errors.ts';

/**
 * The first Ctrl-C (or SIGTERM) aborts the work, which ends in good order and leaves with an error that says so; the
 * second one ends the process at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(new EspalierError('Aborted', 'interrupted; run it again to go on'));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    return await work(stop.signal);
  } catch (error) {
    // Whatever was going on says in its own words that it was stopped.
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
