/** Far more than answers can be under way at once. */
const KEPT = 8_192;

/**
 * Objects that the watch has said are gone, by uid. An answer to a write that was sent before may arrive after that
 * news: it must not bring the object back to life in memory, where nobody would ever take it away again.
 */
export class Departed {
  readonly #uids = new Set<string>();

  add(uid: string | undefined): void {
    if (uid === undefined) return;
    this.#uids.add(uid);
    const [oldest] = this.#uids;
    if (this.#uids.size > KEPT && oldest !== undefined) this.#uids.delete(oldest);
  }

  has(uid: string | undefined): boolean {
    return uid !== undefined && this.#uids.has(uid);
  }
}
