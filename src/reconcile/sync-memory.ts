import type { Step } from '../report/trail.ts';
import type { Compiled } from './compile.ts';
import type { Base, History } from './history.ts';
import type { MergedFrom } from './pulls/merged.ts';

/** What is known of a Sync beyond its status, since this process leads. */
export interface SyncMemory {
  /** Somebody asked to look at Git: the schedule, a webhook, a person. */
  lookWanted: boolean;
  compiled?: Compiled;
  /** Something that the catalogue depends on is other than when `compiled` was made. */
  isStale?: boolean;
  /** Generation that `compiled` was made for. */
  generation?: number;
  /** The compiled revision is written whole. */
  written: boolean;
  /** How the compiled commit stands to the one that removals are measured against. */
  history: History;
  /** What removals are measured against, until none is left to do: else the next commit would make a held one harmless. */
  base?: Base | undefined;
  /** When the status was last written. */
  savedAt?: number;
  /** `reconcile-at` that was answered. */
  handled?: string;
  /** Removals that are under way, or that wait for something other than consent. */
  removals?: string | undefined;
  ref?: string;
  /** The last commits and the Plugins that each was the last to touch, up to the compiled one. */
  trail?: readonly Step[];
  /** The pull request that the compiled commit came from, where this process saw it come. */
  mergedFrom?: MergedFrom | undefined;
  /** A commit at the head that could not be read or compiled: what was compiled before stays in force. */
  trouble?: { commit: string; message: string } | undefined;
  /** When the compiled commit was made, in milliseconds. */
  committedAt?: number;
}

export class SyncMemories {
  readonly #memories = new Map<string, SyncMemory>();

  of(key: string): SyncMemory {
    const known = this.#memories.get(key);
    if (known !== undefined) return known;
    const fresh: SyncMemory = { lookWanted: true, written: false, history: 'first' };
    this.#memories.set(key, fresh);
    return fresh;
  }

  forget(key: string): void {
    this.#memories.delete(key);
  }
}
