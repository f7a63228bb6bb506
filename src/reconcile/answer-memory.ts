import type { Saying } from '../report/pace.ts';
import type { Verdict } from '../report/verdict.ts';

interface Times {
  /** What is to be said, and since when. */
  wanted: string;
  since: number;
  saidAt: number;
  times: number;
}

/** When things were said on the commits of one Sync, and since when they are true: for pace only, so it may be lost. */
export class AnswerMemory {
  readonly #times = new Map<string, Times>();

  /** Since when this is what is to be said, and how long ago something was. */
  timing(place: string, next: Verdict, now: number): Pick<Saying, 'heldMs' | 'saidMs' | 'times'> {
    const known = this.#times.get(place);
    const wanted = JSON.stringify([next.state, next.state === 'pending' ? '' : next.description]);
    const entry = known ?? { wanted, since: now, saidAt: now, times: 0 };
    if (entry.wanted !== wanted) Object.assign(entry, { wanted, since: now });
    this.#times.set(place, entry);
    return { heldMs: now - entry.since, saidMs: now - entry.saidAt, times: entry.times };
  }

  said(place: string, now: number): void {
    const entry = this.#times.get(place);
    if (entry !== undefined) Object.assign(entry, { saidAt: now, times: entry.times + 1 });
  }

  /** Forgets what is not among these places any more. */
  keep(places: ReadonlySet<string>): void {
    for (const place of this.#times.keys()) if (!places.has(place)) this.#times.delete(place);
  }
}

export class AnswerMemories {
  readonly #memories = new Map<string, AnswerMemory>();

  of(key: string): AnswerMemory {
    const memory = this.#memories.get(key) ?? new AnswerMemory();
    this.#memories.set(key, memory);
    return memory;
  }

  forget(key: string): void {
    this.#memories.delete(key);
  }
}
