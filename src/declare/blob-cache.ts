/** Keeps what was made of a blob, by its object id: content is identity. Forgets what was used longest ago. */
export class BlobCache<T> {
  readonly #entries = new Map<string, { value: T; bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(oid: string): T | undefined {
    const entry = this.#entries.get(oid);
    if (entry === undefined) return undefined;
    this.#entries.delete(oid);
    this.#entries.set(oid, entry);
    return entry.value;
  }

  set(oid: string, value: T, bytes: number): void {
    this.#bytes += bytes - (this.#entries.get(oid)?.bytes ?? 0);
    this.#entries.delete(oid);
    this.#entries.set(oid, { value, bytes });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes || oldest === oid) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}
