import { EspalierError } from '../api/errors.ts';

/** Ctrl-C ends what runs for the work, removes what is half-done, and leaves with an error that says so. */
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
