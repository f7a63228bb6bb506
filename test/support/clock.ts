import { setImmediate } from 'node:timers/promises';
import type { Clock, Timer } from '../../src/runtime/clock.ts';

interface Armed {
  due: number;
  order: number;
  fn: () => void;
}

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  #now: number;
  #order = 0;
  readonly #armed = new Set<Armed>();

  constructor(start: number | string = '2026-01-01T00:00:00Z') {
    this.#now = new Date(start).getTime();
  }

  /** Timers that have not fired yet. */
  get pending(): number {
    return this.#armed.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(fn: () => void, ms: number): Timer {
    const armed: Armed = { due: this.#now + Math.max(0, ms), order: this.#order++, fn };
    this.#armed.add(armed);
    return { clear: () => void this.#armed.delete(armed) };
  }

  /** Lets this much time pass: fires what falls due, in order, and lets the promises that hang on it settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) {
      this.#armed.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.fn();
      await settle();
    }
    this.#now = end;
  }

  /** Moves the hands only, as a suspended machine or a corrected clock does: timers keep the time they had left. */
  jump(ms: number): void {
    this.#now += ms;
    for (const armed of this.#armed) armed.due += ms;
  }

  #nextDue(end: number): Armed | undefined {
    let next: Armed | undefined;
    for (const armed of this.#armed) {
      if (armed.due > end) continue;
      if (next === undefined || armed.due < next.due || (armed.due === next.due && armed.order < next.order))
        next = armed;
    }
    return next;
  }
}

/** Every promise that can settle without time passing or the network has settled afterwards. */
export async function settle(): Promise<void> {
  await setImmediate();
}
