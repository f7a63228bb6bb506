/** What removals left in place by a deletion rule, until the Sync that the Plugin belonged to has put it into its status. */
export class KeptNotes {
  readonly #notes = new Map<string, Set<string>>();

  add(sync: string, objects: readonly string[]): void {
    if (objects.length === 0) return;
    const set = this.#notes.get(sync) ?? new Set();
    for (const object of objects) set.add(object);
    this.#notes.set(sync, set);
  }

  of(sync: string): string[] {
    return [...(this.#notes.get(sync) ?? [])];
  }

  clear(sync: string): void {
    this.#notes.delete(sync);
  }
}
