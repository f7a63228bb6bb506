import { isOlderVersion } from '../resolve/pick-version.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import { schedule } from '../runtime/cron.ts';

export interface ServerVersionOptions {
  /** `gitVersion`, as the API server tells it. */
  ask(): Promise<string>;
  clock: Clock;
  signal: AbortSignal;
  /** It is another one than before. */
  onChange(): void;
}

/** After a watch was interrupted: a server that is upgraded drops its watches, and takes a moment to come back. */
const SOON_MS = 5_000;
/** Servers behind a load balancer may be changed one by one without any watch being dropped. */
const PACE = '5m';
/** While some servers are upgraded and others not yet, answers go back and forth: an older one counts when it stays. */
const TIMES_OLDER = 3;
const AGAIN_MS = 20_000;

/** Which Kubernetes the API server is of: asked at the start, whenever a watch was interrupted, and now and then. */
export class ServerVersion {
  readonly #options: ServerVersionOptions;
  #known: string | undefined;
  #timesOlder = 0;
  #timer: Timer | undefined;

  constructor(options: ServerVersionOptions) {
    this.#options = options;
  }

  /** Undefined until the first answer. */
  get known(): string | undefined {
    return this.#known;
  }

  /** Resolves when it is known; from then on it is kept up to date. */
  async start(): Promise<void> {
    await this.#learn();
    const { clock, signal } = this.#options;
    schedule(PACE, () => this.#askAfter(0), { clock, signal });
  }

  /** There is reason to ask again. */
  doubt(): void {
    this.#askAfter(SOON_MS);
  }

  /** Many watches may be interrupted at once: one question is enough. A failure tells nothing; there will be another question. */
  #askAfter(ms: number): void {
    const { clock, signal } = this.#options;
    if (this.#timer !== undefined || signal.aborted) return;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      if (!signal.aborted) void this.#learn().catch(() => undefined);
    }, ms);
  }

  async #learn(): Promise<void> {
    const answer = await this.#options.ask();
    const isOlder = this.#known !== undefined && isOlderVersion(answer, this.#known);
    this.#timesOlder = isOlder ? this.#timesOlder + 1 : 0;
    if (answer === this.#known) return;
    if (isOlder && this.#timesOlder < TIMES_OLDER) return this.#askAfter(AGAIN_MS);
    this.#timesOlder = 0;
    this.#known = answer;
    this.#options.onChange();
  }
}
