import { EspalierError } from '../api/index.ts';

interface Work {
  result: Promise<unknown>;
  waiting: number;
  abort(reason: unknown): void;
}

/** Equal work at the same time is done once. It ends early only when the last of those who wait for it has given up. */
export class Share {
  readonly #running = new Map<string, Work>();

  async run<T>(key: string, signal: AbortSignal | undefined, step: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal?.aborted === true) throw gaveUp(signal);
    const work = this.#running.get(key) ?? this.#start(key, step);
    work.waiting += 1;
    const { promise: left, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(gaveUp(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      // One key always means one type: whoever starts the work names it so.
      return (await Promise.race([work.result, left])) as T;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      work.waiting -= 1;
      if (work.waiting === 0) {
        if (this.#running.get(key) === work) this.#running.delete(key);
        work.abort(gaveUp(signal));
      }
    }
  }

  #start<T>(key: string, step: (signal: AbortSignal) => Promise<T>): Work {
    const controller = new AbortController();
    const result = step(controller.signal);
    const work: Work = { result, waiting: 0, abort: (reason) => controller.abort(reason) };
    this.#running.set(key, work);
    const done = (): void => {
      if (this.#running.get(key) === work) this.#running.delete(key);
    };
    result.then(done, done);
    return work;
  }
}

function gaveUp(signal: AbortSignal | undefined): EspalierError {
  return new EspalierError('Aborted', 'Getting the chart was interrupted.', { cause: signal?.reason });
}
