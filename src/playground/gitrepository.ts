import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { git } from './git.ts';

export const DEFAULT_BRANCH = 'main';

/** Lower-case names, folders allowed: no name can leave the root or meet a file of Git's. */
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\/[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

const SETTINGS: [string, string][] = [
  ['http.receivepack', 'true'],
  ['receive.denyDeletes', 'false'],
  ['receive.denyDeleteCurrent', 'ignore'],
  ['receive.denyNonFastForwards', 'false'],
  ['receive.autogc', 'false'],
  ['gc.auto', '0'],
  // What forges allow: fetching by commit and partial clones.
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
];

/** Makes an empty bare repository that accepts pushes of every kind, and returns its folder. */
export async function initRepository(root: string, name: string): Promise<string> {
  if (!NAME.test(name) || name.length > 100) {
    throw new EspalierError(
      'PlaygroundFailed',
      `${JSON.stringify(name)} can't name a repository: use a-z, 0-9, - and /`,
    );
  }
  const folder = join(root, `${name}.git`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const settings = SETTINGS.flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  await git(folder, [...settings, 'init', '--quiet', '--bare', '--template=', `--initial-branch=${DEFAULT_BRANCH}`]);
  for (const [key, value] of SETTINGS) await git(folder, ['config', key, value]);
  return folder;
}

/** Commits the content of a plain folder as the first commit of the default branch; what it ignores stays out. */
export async function seedRepository(repository: string, seed: string): Promise<string> {
  const env = {
    GIT_DIR: repository,
    GIT_WORK_TREE: resolve(seed),
    GIT_INDEX_FILE: join(repository, `seed-${randomBytes(4).toString('hex')}`),
  };
  try {
    await git(seed, ['add', '--all', '.'], { env });
    const tree = await git(seed, ['write-tree'], { env });
    const commit = await git(seed, ['commit-tree', tree, '-m', 'The platform as it is declared'], { env });
    await git(seed, ['update-ref', `refs/heads/${DEFAULT_BRANCH}`, commit], { env });
    return commit;
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

/** Commit of every ref by its full name. */
export async function readRefs(repository: string): Promise<Map<string, string>> {
  const lines = await git(repository, ['for-each-ref', '--format=%(refname) %(objectname)']);
  const pairs = lines.split('\n').filter((line) => line !== '');
  return new Map(pairs.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]));
}

export interface RefChange {
  ref: string;
  /** Absent for a new ref. */
  before?: string;
  /** Absent for a deleted one. */
  after?: string;
}

export function refChanges(before: Map<string, string>, after: Map<string, string>): RefChange[] {
  const changes: RefChange[] = [];
  for (const ref of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(ref), after.get(ref)];
    if (old === now) continue;
    changes.push({ ref, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) });
  }
  return changes;
}
