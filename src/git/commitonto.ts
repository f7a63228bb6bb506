import { EspalierError, isError } from '../api/index.ts';
import type { PushRequest } from './backend.ts';
import { changedTree, type FileChange } from './changedtree.ts';
import { commitBytes, type Person } from './newcommit.ts';
import { hashObject } from './objects.ts';
import { packOf } from './packwrite.ts';
import type { RefSpec, Resolved } from './ref.ts';
import { branchIn } from './ref.ts';
import type { FileTree } from './tree.ts';

export interface CommitRequest {
  /** The branch that it goes to, without `refs/heads/`. Absent: the one it starts from. */
  branch?: string | undefined;
  /** Where a branch that does not exist yet starts from. Absent: the server's default branch. */
  from?: string | undefined;
  message: string;
  author: Person;
  /** What is to be changed of these files; asked again where somebody else pushed meanwhile. */
  change(tree: FileTree): Promise<FileChange[]>;
}

export interface Committed {
  commit: string;
  branch: string;
  /** The branch it starts from. */
  from: string;
  /** `unchanged`: the branch has it already, and nothing was pushed. */
  done: 'pushed' | 'unchanged';
  /** The branch has what the one it starts from has not. */
  ahead: boolean;
}

/** What committing takes of a repository. */
export interface CommitMeans {
  url: string;
  resolve(spec: RefSpec): Promise<Resolved>;
  fetch(commit: string, ref?: string): Promise<void>;
  tree(commit: string): FileTree;
  treeId(commit: string): Promise<string>;
  isAncestor(old: string, young: string): Promise<'yes' | 'no' | 'unknown'>;
  push(request: PushRequest): Promise<void>;
  now(): number;
}

interface Start {
  branch: string;
  from: string;
  /** What the commit is made on top of. */
  parent: string;
  /** Where the branch stands on the server; `undefined` where it is new. */
  present: string | undefined;
  ahead: boolean;
}

const TRIES = 5;

/**
 * Makes one commit on top of a branch and pushes it, without a work tree. Nothing is ever forced: where somebody else was
 * faster, the change is made again on top of theirs.
 */
export async function commitOnto(means: CommitMeans, request: CommitRequest): Promise<Committed> {
  for (let tries = 1; ; tries += 1) {
    const start = await startOf(means, request);
    const { parent, branch, from, present } = start;
    const changes = await request.change(means.tree(parent));
    const { id, made } = await changedTree(means.tree(parent), changes);
    if (id === (await means.treeId(parent)))
      return { commit: parent, branch, from, done: 'unchanged', ahead: start.ahead };
    const { author, message } = request;
    const data = commitBytes({ tree: id, parent, author, message, at: means.now() });
    const commit = hashObject('commit', data);
    const pack = packOf([{ type: 'commit', data }, ...made.values()]);
    const ref = `refs/heads/${branch}`;
    try {
      await means.push({ ref, from: present, commit, pack });
      return { commit, branch, from, done: 'pushed', ahead: true };
    } catch (error) {
      // The answer to a push that arrived may be lost, and a refusal does not say whether somebody was faster: look.
      const now = await standing(means, branch).catch(() => present);
      if (now === commit) return { commit, branch, from, done: 'pushed', ahead: true };
      if (now === present || tries === TRIES || !isError(error, 'GitPushRefused')) throw error;
    }
  }
}

async function startOf(means: CommitMeans, request: CommitRequest): Promise<Start> {
  const base = await means.resolve(request.from === undefined ? {} : { branch: request.from });
  const from = branchIn(base.ref);
  if (from === undefined)
    throw new EspalierError('GitRefMissing', `The default of ${means.url} is no branch: name one to commit to.`);
  const { branch = from } = request;
  const present = branch === from ? base.commit : await standing(means, branch);
  await means.fetch(base.commit, base.ref);
  if (present === undefined || present === base.commit)
    return { branch, from, parent: base.commit, present, ahead: false };
  await means.fetch(present, `refs/heads/${branch}`);
  // What was merged already starts anew from where it was merged to.
  const merged = (await means.isAncestor(present, base.commit)) === 'yes';
  return { branch, from, parent: merged ? base.commit : present, present, ahead: !merged };
}

async function standing(means: CommitMeans, branch: string): Promise<string | undefined> {
  try {
    return (await means.resolve({ branch })).commit;
  } catch (error) {
    if (isError(error, 'GitRefMissing')) return undefined;
    throw error;
  }
}
