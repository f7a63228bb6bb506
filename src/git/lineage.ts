import { isError } from '../api/index.ts';
import { ByteCache } from './bytecache.ts';
import { notStored } from './gittree.ts';
import { descends, firstParents } from './history.ts';
import type { GitLimits } from './limits.ts';
import { findMergeBase, type MergeBase } from './mergebase.ts';
import { type Commit, parseCommit } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';

export interface LineageOptions {
  store: Pick<ObjectStore, 'read' | 'has'>;
  limits: Pick<GitLimits, 'depth' | 'history'>;
  /** Fetches the history of a stored commit down to a depth. */
  deepen(commit: string, depth: number): Promise<void>;
}

interface Step {
  parents: string[];
  committedAt: string;
}

const STEPS_BYTES = 6 * 1024 * 1024;
/** About what one id takes in memory, with what holds it. */
const STEP_BYTES = 150;

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
  const steps = new ByteCache<string, Step>(STEPS_BYTES);

  async function read(oid: string): Promise<Commit | undefined> {
    const object = await store.read(oid);
    return object?.type === 'commit' ? parseCommit(oid, object.data) : undefined;
  }

  /** What a walk needs; remembered, since walks go the same way again and again. */
  async function lookUp(oid: string): Promise<Step | undefined> {
    const known = steps.get(oid);
    // Remembered or not: what is no longer stored does not count.
    if (known !== undefined) return (await store.has(oid)) ? known : undefined;
    const found = await read(oid);
    if (found === undefined) return undefined;
    const step = { parents: found.parents, committedAt: found.committedAt };
    steps.set(oid, step, STEP_BYTES + found.parents.length * STEP_BYTES);
    return step;
  }

  async function commit(oid: string): Promise<Commit> {
    const found = await read(oid);
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
    firstParents: (young, old, limit) => firstParents(read, young, old, limit),
  };
}
