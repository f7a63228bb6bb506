import { isError } from '../api/index.ts';
import { notStored } from './gittree.ts';
import { descends, firstParents } from './history.ts';
import type { GitLimits } from './limits.ts';
import { findMergeBase, type MergeBase } from './mergebase.ts';
import { type Commit, parseCommit } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';

export interface LineageOptions {
  store: Pick<ObjectStore, 'read'>;
  limits: Pick<GitLimits, 'depth' | 'history'>;
  /** Fetches the history of a stored commit down to a depth. */
  deepen(commit: string, depth: number): Promise<void>;
}

/** Questions about how commits stand to each other. */
export interface Lineage {
  commit(oid: string): Promise<Commit>;
  treeId(commit: string): Promise<string>;
  isAncestor(old: string, young: string): Promise<'yes' | 'no' | 'unknown'>;
  mergeBase(a: string, b: string): Promise<MergeBase>;
  firstParents(young: string, old: string, limit: number): Promise<Commit[]>;
}

/** Answers from what is stored; where that leaves a question open, more history is fetched, step by step up to the limit. */
export function lineageOf({ store, limits, deepen }: LineageOptions): Lineage {
  async function lookUp(oid: string): Promise<Commit | undefined> {
    const object = await store.read(oid);
    return object?.type === 'commit' ? parseCommit(oid, object.data) : undefined;
  }

  async function commit(oid: string): Promise<Commit> {
    const found = await lookUp(oid);
    if (found === undefined) throw notStored(oid);
    return found;
  }

  async function settle<T>(walk: () => Promise<T | 'open'>, commits: string[]): Promise<T | 'open'> {
    let answer = await walk();
    for (const depth of [limits.depth * 10, limits.history]) {
      if (answer !== 'open') return answer;
      try {
        for (const oid of commits) await deepen(oid, depth);
      } catch (error) {
        if (isError(error, 'GitRefMissing', 'GitTooLarge')) return 'open';
        throw error;
      }
      answer = await walk();
    }
    return answer;
  }

  const parentsOf = async (oid: string): Promise<string[] | undefined> => (await lookUp(oid))?.parents;

  return {
    commit,
    treeId: async (oid) => (await commit(oid)).tree,
    async isAncestor(old, young) {
      await commit(young);
      const answer = await settle(() => descends(parentsOf, old, young, limits.history * 2), [young]);
      return answer === 'open' ? 'unknown' : answer;
    },
    async mergeBase(a, b) {
      await commit(a);
      await commit(b);
      const answer = await settle(() => findMergeBase(lookUp, a, b, limits.history * 2), [a, b]);
      return answer === 'open' ? { state: 'unknown' } : answer;
    },
    firstParents: (young, old, limit) => firstParents(lookUp, young, old, limit),
  };
}
