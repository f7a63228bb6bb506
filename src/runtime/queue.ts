import { type Backoff, backoffMs, DEFAULT_BACKOFF } from './backoff.ts';
import type { Clock, Timer } from './clock.ts';
import { FairLine } from './fair-line.ts';

export interface AddOptions {
  /** Higher runs first. Default 0. */
  priority?: number;
  /** Milliseconds from now. Of several wishes for one key the earliest wins. Default: now. */
  after?: number;
}

export interface WorkQueueOptions {
  clock: Clock;
  /** In [0, 1), for the jitter of back-offs. */
  random?: () => number;
  backoff?: Backoff;
  /** Keys of different groups take turns. Default: what stands before the first `/`. */
  groupOf?: (key: string) => string;
  /** A key that waited this long goes before more urgent ones. Default 30 s. */
  patienceMs?: number;
  /**
   * A key that failed rests at least this long, whoever asks for it: a run that fails and whose own writes wake it
   * again must not spin. Default 500 ms.
   */
  restMs?: number;
}

interface Wish {
  due: number;
  priority: number;
}

interface Delayed extends Wish {
  timer: Timer;
}

interface Failures {
  inARow: number;
  restUntil: number;
}

/**
 * Which keys want to run, and which do. A key is ready, delayed or running; one that is added while it runs (dirty)
 * runs once more afterwards. Holds keys only: whoever runs one looks at the world as it is by then.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #backoff: Backoff;
  readonly #restMs: number;
  readonly #ready: FairLine;
  readonly #delayed = new Map<string, Delayed>();
  readonly #running = new Set<string>();
  readonly #dirty = new Map<string, Wish>();
  readonly #failures = new Map<string, Failures>();
  #onReady: () => void = () => {};
  #closed = false;

  constructor({ clock, random = Math.random, backoff = DEFAULT_BACKOFF, ...options }: WorkQueueOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#backoff = backoff;
    this.#restMs = options.restMs ?? 500;
    this.#ready = new FairLine(options.patienceMs ?? 30_000, options.groupOf ?? prefixOf);
  }

  /** Keys that could run now. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** How long the oldest of the keys that could run now has waited; 0 when there is none. */
  get oldestAgeMs(): number {
    const since = this.#ready.oldest();
    return since === undefined ? 0 : Math.max(0, this.#clock.now() - since);
  }

  /** Failures in a row. */
  failuresOf(key: string): number {
    return this.#failures.get(key)?.inARow ?? 0;
  }

  /** Called whenever a key became ready; there is one listener, the loop that runs them. */
  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  add(key: string, { priority = 0, after = 0 }: AddOptions = {}): void {
    if (this.#closed) return;
    if (Number.isNaN(after)) throw new RangeError(`a delay for ${key} must be a number`);
    this.#wish(key, { due: this.#clock.now() + Math.max(0, after), priority });
  }

  /** The key to run next, marked as running: the caller must answer with `done` or `fail`. */
  take(): string | undefined {
    const key = this.#closed ? undefined : this.#ready.take(this.#clock.now());
    if (key !== undefined) this.#running.add(key);
    return key;
  }

  /** The run went well: the failures of the key are forgotten. */
  done(key: string, { requeueAfterMs }: { requeueAfterMs?: number } = {}): void {
    this.#failures.delete(key);
    this.#settle(key);
    if (requeueAfterMs !== undefined) this.add(key, { after: requeueAfterMs });
  }

  /**
   * The run failed: the key comes back after its back-off, and not before `atLeastMs`; `slow` goes to the cap at once.
   * Returns the wait. Only another `add` brings it back sooner, after a short rest.
   */
  fail(key: string, { atLeastMs = 0, slow = false }: { atLeastMs?: number; slow?: boolean } = {}): number {
    const inARow = this.failuresOf(key) + 1;
    const backoff = backoffMs(slow ? Number.POSITIVE_INFINITY : inARow, this.#backoff, this.#random());
    const after = Math.max(backoff, atLeastMs);
    this.#failures.set(key, { inARow, restUntil: this.#clock.now() + Math.min(after, this.#restMs) });
    this.#settle(key);
    this.add(key, { after });
    return after;
  }

  /** Nothing is taken or added any more; timers are gone. Keys that run may still be answered for. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#delayed.values()) timer.clear();
    this.#delayed.clear();
  }

  #settle(key: string): void {
    const wish = this.#dirty.get(key);
    this.#dirty.delete(key);
    this.#running.delete(key);
    if (wish !== undefined && !this.#closed) this.#wish(key, wish);
  }

  #wish(key: string, wish: Wish): void {
    if (this.#running.has(key)) {
      this.#dirty.set(key, sooner(wish, this.#dirty.get(key)));
      return;
    }
    const delayed = this.#delayed.get(key);
    // One that waits for its time is wished for again and again: its timer stays as it is.
    if (delayed !== undefined && isCovered(wish, delayed) && delayed.due > this.#clock.now()) return;
    delayed?.timer.clear();
    this.#delayed.delete(key);
    const { due: wished, priority } = sooner(wish, delayed);
    const due = Math.max(wished, this.#failures.get(key)?.restUntil ?? 0);
    const now = this.#clock.now();
    if (due <= now || this.#ready.has(key)) {
      this.#ready.push(key, priority, now);
      this.#onReady();
    } else {
      const timer = this.#clock.setTimeout(() => this.#wish(key, { due: this.#clock.now(), priority }), due - now);
      this.#delayed.set(key, { due, priority, timer });
    }
  }
}

function isCovered(wish: Wish, by: Wish): boolean {
  return by.due <= wish.due && by.priority >= wish.priority;
}

function sooner(a: Wish, b: Wish | undefined): Wish {
  return b === undefined ? a : { due: Math.min(a.due, b.due), priority: Math.max(a.priority, b.priority) };
}

function prefixOf(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}
