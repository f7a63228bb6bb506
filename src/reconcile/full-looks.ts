/** When each Plugin is compared with the cluster object by object, whatever the watches say: the ground truth, seldom. */
export class FullLooks {
  readonly #everyMs: number;
  readonly #random: () => number;
  readonly #due = new Map<string, number>();

  constructor(everyMs: number, random: () => number) {
    this.#everyMs = everyMs;
    this.#random = random;
  }

  isDue(key: string, now: number): boolean {
    return this.dueAt(key, now) <= now;
  }

  /** Spread over the interval, so that a restart doesn't look at everything at once. */
  dueAt(key: string, now: number): number {
    const known = this.#due.get(key);
    if (known !== undefined) return known;
    const due = now + this.#everyMs * (0.5 + this.#random() / 2);
    this.#due.set(key, due);
    return due;
  }

  done(key: string, now: number): void {
    this.#due.set(key, now + this.#everyMs * (0.9 + this.#random() / 5));
  }

  forget(key: string): void {
    this.#due.delete(key);
  }
}
