/** Far more than answers can be under way at once. */
const KEPT = 8_192;

/**
 * Objects that the watch has said are gone, by uid. An answer to a write that was sent before may arrive after that news: it
 * must not bring the object back to life in memory, where nobody would ever take it away again. Where a watch follows a
 * label it also says so of what only lost that: with versions given, a later one is back.
 */
export class Departed {
  readonly #versions = new Map<string, string>();

  add(uid: string | undefined, resourceVersion?: string): void {
    if (uid === undefined) return;
    this.#versions.set(uid, resourceVersion ?? '');
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > KEPT && oldest !== undefined) this.#versions.delete(oldest);
  }

  has(uid: string | undefined, resourceVersion?: string): boolean {
    const gone = uid === undefined ? undefined : this.#versions.get(uid);
    return gone !== undefined && !isOlder(gone, resourceVersion);
  }
}

/** Since Kubernetes 1.35 resource versions are officially comparable as numbers of any length; before, they were in practice. */
export function isOlder(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || a === '' || b === '') return false;
  return a.length === b.length ? a < b : a.length < b.length;
}
