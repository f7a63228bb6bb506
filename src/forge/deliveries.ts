/**
 * Which deliveries came already. Signatures of most forges hold no time, so one that was overheard stays valid; what is
 * remembered is bounded, and what is forgotten could only ask for one more look.
 */
export class Deliveries {
  readonly #most: number;
  readonly #seen = new Set<string>();

  constructor(most = 10_000) {
    this.#most = most;
  }

  /** Remembers a delivery of a proven hook. True when that one came before; one without an id is always new. */
  isReplay(receiver: string, delivery: string | undefined): boolean {
    if (delivery === undefined) return false;
    const key = JSON.stringify([receiver, delivery]);
    if (this.#seen.has(key)) return true;
    this.#seen.add(key);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= this.#most) break;
      this.#seen.delete(oldest);
    }
    return false;
  }
}
