/** Who waits to hear what a Plugin declares now. */
export class RenderWaiters {
  readonly #waiters = new Map<string, Set<string>>();

  add(owner: string, waiter: string): void {
    const set = this.#waiters.get(owner);
    if (set === undefined) this.#waiters.set(owner, new Set([waiter]));
    else set.add(waiter);
  }

  take(owner: string): string[] {
    const waiters = [...(this.#waiters.get(owner) ?? [])];
    this.#waiters.delete(owner);
    return waiters;
  }
}
