import type { GitRepository } from '../git/repository.ts';
import type { FileTree } from '../git/tree.ts';
import type { Clock } from '../runtime/clock.ts';

/** Longer, and a store that lost its files would not be noticed when it is asked for again. */
const SHARED_MS = 1_000;

/**
 * The tree of the commit that a repository was last asked for. The Plugins of a push are rendered within moments: they
 * share one look at what is stored, and the folders that were parsed already.
 */
export class RecentTrees {
  readonly #clock: Clock;
  readonly #recent = new WeakMap<GitRepository, { commit: string; until: number; tree: Promise<FileTree> }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async at(repository: GitRepository, commit: string): Promise<FileTree> {
    const recent = this.#recent.get(repository);
    if (recent?.commit === commit && this.#clock.now() < recent.until) return await recent.tree;
    const tree = repository.fetch(commit).then(() => repository.tree(commit));
    const fresh = { commit, until: this.#clock.now() + SHARED_MS, tree };
    this.#recent.set(repository, fresh);
    try {
      return await tree;
    } catch (error) {
      if (this.#recent.get(repository) === fresh) this.#recent.delete(repository);
      throw error;
    }
  }
}
