import { EspalierError, isError } from '../api/index.ts';
import { type Clock, sleep, type Timer } from './clock.ts';
import type { WorkQueue } from './queue.ts';
import { type Verdict, verdictOf } from './verdict.ts';

export interface ControllerOptions {
  /** For messages: `Plugin`, `Sync`. */
  name: string;
  queue: WorkQueue;
  /** Runs at once. */
  concurrency: number;
  /** Must end soon after its signal is aborted: at the deadline, or when the grace period of a shutdown is over. */
  reconcile(key: string, signal: AbortSignal): Promise<{ requeueAfterMs?: number } | undefined>;
  /** Says what to do about an error; without an answer the error itself decides. Must not throw. */
  onError?(key: string, error: unknown, failures: number): Verdict | undefined;
  /** After every run; for metrics. Must not throw. */
  onFinish?(key: string, outcome: RunOutcome, ms: number): void;
  /** Ends the loop: no run starts any more, those under way may finish within `graceMs`. */
  signal: AbortSignal;
  clock: Clock;
  /** Longest time for one run. Default 10 min. */
  deadlineMs?: number;
  /** A run this long gives its place to another, so that slow keys never delay the others. Default 5 s. */
  slowAfterMs?: number;
  /** Runs at once with all places given away. Default 4 × concurrency. */
  maxRunning?: number;
  /** Default 20 s. */
  graceMs?: number;
  /** How long aborted runs get to end, after the grace period. Default 2 s. */
  unwindMs?: number;
}

export type RunOutcome = 'success' | 'failure' | 'deadline' | 'aborted';

interface Run {
  abort: AbortController;
  timers: Timer[];
  slow: boolean;
  ended: Promise<void>;
}

/** Runs the keys of a queue until `signal`; resolves once the runs ended, with the keys of those that did not. */
export async function runController(options: ControllerOptions): Promise<{ abandoned: string[] }> {
  const { queue, signal, clock } = options;
  const loop = new ControllerLoop(options);
  queue.onReady(() => loop.wake());
  loop.wake();
  await aborted(signal);
  queue.close();
  await within(options.graceMs ?? 20_000, loop.ended(), clock);
  loop.abort(new EspalierError('Aborted', `the ${options.name} controller shuts down`));
  await within(options.unwindMs ?? 2_000, loop.ended(), clock);
  return { abandoned: loop.keys() };
}

class ControllerLoop {
  readonly #options: ControllerOptions;
  readonly #runs = new Map<string, Run>();
  readonly #maxRunning: number;
  #slow = 0;
  #awake = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#maxRunning = options.maxRunning ?? 4 * options.concurrency;
  }

  keys(): string[] {
    return [...this.#runs.keys()];
  }

  async ended(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.ended));
  }

  abort(reason: Error): void {
    for (const { abort } of this.#runs.values()) abort.abort(reason);
  }

  /** Starts what may start, a moment later: what is added in one go is put in order first. */
  wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    queueMicrotask(() => {
      this.#awake = false;
      while (this.#hasPlace()) {
        const key = this.#options.queue.take();
        if (key === undefined) break;
        this.#start(key);
      }
    });
  }

  #hasPlace(): boolean {
    const fast = this.#runs.size - this.#slow;
    return fast < this.#options.concurrency && this.#runs.size < this.#maxRunning && !this.#options.signal.aborted;
  }

  #start(key: string): void {
    const { clock, name, deadlineMs = 10 * 60_000, slowAfterMs = 5_000 } = this.#options;
    const run: Run = { abort: new AbortController(), timers: [], slow: false, ended: Promise.resolve() };
    run.timers.push(
      clock.setTimeout(() => {
        run.slow = true;
        this.#slow++;
        this.wake();
      }, slowAfterMs),
      clock.setTimeout(() => {
        const seconds = Math.round(deadlineMs / 1_000);
        run.abort.abort(new EspalierError('DeadlineExceeded', `${name} ${key} took longer than ${seconds} s`));
      }, deadlineMs),
    );
    this.#runs.set(key, run);
    run.ended = this.#run(key, run);
  }

  async #run(key: string, run: Run): Promise<void> {
    const { queue, reconcile, clock, onFinish } = this.#options;
    const { signal } = run.abort;
    const started = clock.now();
    let outcome: RunOutcome = 'success';
    let answer: () => void;
    try {
      const { requeueAfterMs } = (await reconcile(key, signal)) ?? {};
      if (Number.isNaN(requeueAfterMs)) throw new RangeError(`${key} asked to come back after NaN`);
      answer = () => queue.done(key, requeueAfterMs === undefined ? {} : { requeueAfterMs });
    } catch (thrown) {
      outcome = outcomeOf(signal);
      answer = () => this.#fail(key, causeOf(thrown, signal));
    }
    this.#end(key, run);
    answer();
    onFinish?.(key, outcome, clock.now() - started);
  }

  /** Before the queue hears of the end: from then on the key may start again. */
  #end(key: string, run: Run): void {
    for (const timer of run.timers) timer.clear();
    this.#runs.delete(key);
    if (run.slow) this.#slow--;
    this.wake();
  }

  #fail(key: string, error: unknown): void {
    const { onError, queue } = this.#options;
    let verdict: Verdict = { retry: 'backoff' };
    try {
      verdict = onError?.(key, error, queue.failuresOf(key) + 1) ?? verdictOf(error);
    } finally {
      if (verdict.retry === 'forget') queue.done(key);
      else if (verdict.retry === 'slow') queue.fail(key, { slow: true });
      else queue.fail(key, { atLeastMs: verdict.atLeastMs ?? 0 });
    }
  }
}

function outcomeOf(signal: AbortSignal): RunOutcome {
  if (!signal.aborted) return 'failure';
  return isError(signal.reason, 'DeadlineExceeded') ? 'deadline' : 'aborted';
}

/** What the run threw, or why it was told to stop when all it says is that it stopped. */
function causeOf(thrown: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted) return thrown;
  return isError(thrown) && thrown.code !== 'Aborted' ? thrown : signal.reason;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function within(ms: number, work: Promise<void>, clock: Clock): Promise<void> {
  const stop = new AbortController();
  const tooLong = sleep(ms, { clock, signal: stop.signal }).catch(() => {});
  await Promise.race([work, tooLong]);
  stop.abort();
}
