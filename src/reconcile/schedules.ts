import type { Clock } from '../runtime/clock.ts';
import { schedule } from '../runtime/cron.ts';

/** One poll schedule for each Sync, replaced when its text changes. */
export class Schedules {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #running = new Map<string, { spec: string; abort: AbortController }>();

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  follow(key: string, spec: string): void {
    if (this.#running.get(key)?.spec === spec) return;
    this.stop(key);
    const abort = new AbortController();
    schedule(spec, () => this.#onDue(key), { clock: this.#clock, signal: abort.signal });
    this.#running.set(key, { spec, abort });
  }

  stop(key: string): void {
    this.#running.get(key)?.abort.abort();
    this.#running.delete(key);
  }

  stopAll(): void {
    for (const key of [...this.#running.keys()]) this.stop(key);
  }
}
