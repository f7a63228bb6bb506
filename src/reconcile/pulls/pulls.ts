import type { PullRequest } from '../../forge/forge.ts';

/** By then the lists of a forge have what its hook told of. */
const LATER_LOOKS_MS = [5_000, 30_000] as const;
const PLANS_KEPT = 100;
const PLANS_CHARACTERS = 8_000_000;

/** What is known of pull requests beyond what is on record, since this process leads. */
export class Pulls {
  readonly #open = new Map<string, Map<number, PullRequest>>();
  readonly #plans = new Map<string, string>();
  readonly #hinted = new Map<string, number[]>();
  #characters = 0;

  /** Those that are open and meant for the followed branch. */
  set(sync: string, pulls: readonly PullRequest[]): void {
    this.#open.set(sync, new Map(pulls.map((pull) => [pull.number, pull])));
  }

  get(sync: string, number: number): PullRequest | undefined {
    return this.#open.get(sync)?.get(number);
  }

  /** A hook told of news: forges send some before their own lists have them. */
  hint(sync: string): void {
    this.#hinted.set(sync, [...LATER_LOOKS_MS]);
  }

  /** In how many milliseconds to look once more because of a hint; each such look is told of once. */
  nextLook(sync: string): number | undefined {
    return this.#hinted.get(sync)?.shift();
  }

  forget(sync: string): void {
    this.#open.delete(sync);
    this.#hinted.delete(sync);
  }

  /** The whole plan as text, for who follows the link of a shortened comment. */
  showPlan(key: string, text: string): void {
    this.#drop(key);
    this.#plans.set(key, text);
    this.#characters += text.length;
    for (const oldest of this.#plans.keys()) {
      if (this.#plans.size <= PLANS_KEPT && this.#characters <= PLANS_CHARACTERS) break;
      this.#drop(oldest);
    }
  }

  plan(key: string): string | undefined {
    return this.#plans.get(key);
  }

  #drop(key: string): void {
    this.#characters -= this.#plans.get(key)?.length ?? 0;
    this.#plans.delete(key);
  }
}
