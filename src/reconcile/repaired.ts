import type { Drifted } from '../report/drift.ts';

const KEPT = 50;

/** What was put back after somebody had changed it, until it has been told. */
export class Repaired {
  readonly #notes = new Map<string, Drifted[]>();
  readonly #onNote: (sync: string) => void;

  constructor(onNote: (sync: string) => void) {
    this.#onNote = onNote;
  }

  note(sync: string, repaired: Drifted): void {
    this.#notes.set(sync, [...this.of(sync), repaired].slice(-KEPT));
    this.#onNote(sync);
  }

  of(sync: string): readonly Drifted[] {
    return this.#notes.get(sync) ?? [];
  }

  /** Those have been told. What was noted meanwhile stays. */
  told(sync: string, notes: readonly Drifted[]): void {
    const left = this.of(sync).filter((note) => !notes.includes(note));
    if (left.length === 0) this.#notes.delete(sync);
    else this.#notes.set(sync, left);
  }
}
