/** Answers that hold for a while; of many, the oldest are forgotten. */
export class Remembered<T> {
  readonly #most: number;
  readonly #now: () => number;
  readonly #answers = new Map<string, { value: T; until: number }>();

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  get(key: string): T | undefined {
    const known = this.#answers.get(key);
    return known !== undefined && known.until > this.#now() ? known.value : undefined;
  }

  set(key: string, value: T, ms: number): void {
    this.#answers.delete(key);
    this.#answers.set(key, { value, until: this.#now() + ms });
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#most) break;
      this.#answers.delete(oldest);
    }
  }
}
