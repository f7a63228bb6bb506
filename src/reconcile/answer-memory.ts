import type { Answer, Sync } from '../api/index.ts';
import type { Saying } from '../report/pace.ts';
import type { Verdict } from '../report/verdict.ts';

interface Times {
  /** What is to be said, and since when. */
  wanted: string;
  since: number;
  saidAt: number;
  times: number;
}

/** How long what was sent may be on record as perhaps sent. */
const CONFIRM_AFTER_MS = 3_000;

/**
 * What was said on the commits of one Sync, when, and since when it is true. It may be lost: what counts is on record,
 * and where that is not sure, the forge knows.
 */
export class AnswerMemory {
  readonly #times = new Map<string, Times>();
  #record: { uid: string | undefined; answers: Answer[] } | undefined;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** The record of this Sync as it is to be written; undefined before the first look. */
  record({ metadata }: Sync): readonly Answer[] | undefined {
    return this.#record?.uid === metadata.uid ? this.#record?.answers : undefined;
  }

  remember({ metadata }: Sync, answers: Answer[]): void {
    this.#record = { uid: metadata.uid, answers };
  }

  /** How long to wait before it is written that what was sent has arrived. */
  restMs(now: number): number {
    return Math.max(0, this.#saidAt + CONFIRM_AFTER_MS - now);
  }

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
    this.#saidAt = now;
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
