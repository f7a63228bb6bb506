import { isError } from '../api/index.ts';
import type { Backend } from './backend.ts';
import { findGit, runLocal } from './gitprogram.ts';
import {
  HEAD_REF,
  INCOMING_REF,
  listPacks,
  PREVIOUS_REF,
  readKept,
  readRef,
  readShallow,
  removePacks,
  removeRef,
  writeRef,
  writeShallow,
} from './layout.ts';
import type { GitLimits } from './limits.ts';
import { parseCommit } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';
import { settleShallow } from './shallow.ts';

export interface Maintenance {
  dir: string;
  store: ObjectStore;
  backend: Backend;
  limits: GitLimits;
  /** The program; `undefined` looks for it, `null` does without. */
  gitPath: string | undefined | null;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface MaintenanceResult {
  /** `none` when nothing was due. */
  done: 'none' | 'repacked' | 'refetched';
  packs: number;
  bytes: number;
}

/**
 * Brings many packs down to one when there are too many: history beyond the first `depth` commits goes, and so does what no
 * kept commit holds. The program git does it where there is one; else the kept commits are fetched anew and the old packs go.
 */
export async function maintainStore(task: Maintenance, force: boolean): Promise<MaintenanceResult> {
  const { dir, limits } = task;
  const packs = await listPacks(dir);
  const bytes = packs.reduce((sum, pack) => sum + pack.bytes, 0);
  const tips = await readTips(dir);
  // Rebuilt without the program git, the store has a pack for each tip: that must not make the next rebuilding due.
  const due = packs.length > limits.packs + tips.length || (packs.length > 1 && bytes > limits.storeBytes);
  if ((!due && !force) || tips.length === 0 || packs.length === 0) return { done: 'none', packs: packs.length, bytes };
  const git = task.gitPath === undefined ? await findGit() : (task.gitPath ?? undefined);
  if (git === undefined) await refetch(task, tips, packs);
  else await repack(task, git, tips);
  const after = await listPacks(dir);
  return {
    done: git === undefined ? 'refetched' : 'repacked',
    packs: after.length,
    bytes: after.reduce((sum, pack) => sum + pack.bytes, 0),
  };
}

/** What a rebuilt store is to hold: the commit that is followed, and those that are kept by name. */
async function readTips(dir: string): Promise<string[]> {
  const head = await readRef(dir, HEAD_REF);
  return [...new Set([...(head === undefined ? [] : [head]), ...(await readKept(dir)).values()])];
}

async function repack(task: Maintenance, git: string, tips: string[]): Promise<void> {
  const { dir, timeoutMs, signal } = task;
  const previous = await readRef(dir, PREVIOUS_REF);
  // What is cut off now must not be kept alive by the commit before, or by one that was fetched last and dropped since.
  await removeRef(dir, INCOMING_REF);
  const from = previous === undefined ? tips : [...tips, previous];
  const shallow = new Set([...(await readShallow(dir)), ...(await boundary(task, from))]);
  await writeShallow(dir, shallow);
  await runLocal(git, dir, ['repack', '-a', '-d', '-q'], timeoutMs, signal);
  await task.store.refresh();
  await settleShallow(dir, task.store, shallow);
}

/** Commits so far from a tip that their parents are to go. */
async function boundary(task: Maintenance, tips: string[]): Promise<string[]> {
  const seen = new Set(tips);
  let generation = tips;
  for (let depth = 1; depth < task.limits.depth && generation.length > 0; depth += 1) {
    const next: string[] = [];
    for (const oid of generation) {
      for (const parent of await parentsOf(task.store, oid)) {
        if (seen.has(parent) || !(await task.store.has(parent))) continue;
        seen.add(parent);
        next.push(parent);
      }
    }
    generation = next;
  }
  return generation;
}

async function parentsOf(store: ObjectStore, oid: string): Promise<string[]> {
  const object = await store.read(oid);
  return object?.type === 'commit' ? parseCommit(oid, object.data).parents : [];
}

async function refetch(task: Maintenance, tips: string[], old: { name: string }[]): Promise<void> {
  const { dir, backend, limits, signal } = task;
  const before = await readShallow(dir);
  const fresh = new Set<string>();
  try {
    // Each by itself and whole: what the server left out because an old pack has it would go with that pack.
    for (const commit of tips) {
      const { pack } = await backend.fetch({ commit, depth: limits.depth }, signal);
      if (pack !== undefined) fresh.add(pack);
    }
  } catch (error) {
    // It was overwritten on the server meanwhile. What is stored stays until the next fetch.
    if (isError(error, 'GitRefMissing')) return;
    throw error;
  }
  const gone = old.map(({ name }) => name).filter((name) => !fresh.has(name));
  const shallow = new Set([...before, ...(await readShallow(dir)), ...(await boundary(task, tips))]);
  if ((await readRef(dir, HEAD_REF)) !== undefined) await writeRef(dir, PREVIOUS_REF, tips[0] ?? '');
  await writeShallow(dir, shallow);
  await removePacks(dir, gone);
  await task.store.refresh();
  await settleShallow(dir, task.store, shallow);
}
