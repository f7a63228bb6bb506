import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { git } from './git.ts';

export const DEFAULT_BRANCH = 'main';

/** Lower-case names, folders allowed: no name can leave the root or meet a file of Git's. */
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\/[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** Every kind of push, and what forges allow: fetching by commit and partial clones. */
const SETTINGS = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
[http]
	receivepack = true
[receive]
	denyDeletes = false
	denyDeleteCurrent = ignore
	denyNonFastForwards = false
	autogc = false
[gc]
	auto = 0
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
`;

/** Makes an empty bare repository, and returns its folder. */
export async function initRepository(root: string, name: string): Promise<string> {
  if (!NAME.test(name) || name.length > 100) {
    throw new EspalierError(
      'PlaygroundFailed',
      `${JSON.stringify(name)} can't name a repository: use a-z, 0-9, - and /`,
    );
  }
  const folder = join(root, `${name}.git`);
  await initBare(folder);
  return folder;
}

/** What `git init --bare` makes, without a process; harmless when repeated. */
export async function initBare(folder: string): Promise<void> {
  for (const inner of ['objects', 'refs/heads']) await mkdir(join(folder, inner), { recursive: true, mode: 0o700 });
  const files = { config: SETTINGS, HEAD: `ref: refs/heads/${DEFAULT_BRANCH}\n` };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
}

/**
 * Commits the content of a plain folder as the first commit of the default branch; what it ignores stays out. In its
 * YAML files every key of `replace` is replaced by its value.
 */
export async function seedRepository(
  repository: string,
  seed: string,
  replace: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = {
    GIT_DIR: repository,
    GIT_WORK_TREE: resolve(seed),
    GIT_INDEX_FILE: join(repository, `seed-${randomBytes(4).toString('hex')}`),
  };
  try {
    await git(seed, ['add', '--all', '.'], { env });
    await replaceInIndex(seed, env, replace);
    const tree = await git(seed, ['write-tree'], { env });
    const commit = await git(seed, ['commit-tree', tree, '-m', 'The platform as it is declared'], { env });
    await git(seed, ['update-ref', `refs/heads/${DEFAULT_BRANCH}`, commit], { env });
    return commit;
  } finally {
    await rm(env.GIT_INDEX_FILE, { force: true });
  }
}

async function replaceInIndex(
  seed: string,
  env: Record<string, string>,
  replace: Readonly<Record<string, string>>,
): Promise<void> {
  const words = Object.keys(replace);
  if (words.length === 0) return;
  // Lists the files of the index with what is in them; a seed is small.
  const listed = await git(seed, ['ls-files', '--stage', '-z', '--', '*.yaml', '*.yml'], { env });
  for (const line of listed.split('\u0000')) {
    const [, mode = '', path = ''] = /^(100\d{3}) [0-9a-f]+ 0\t(.+)$/s.exec(line) ?? [];
    if (path === '') continue;
    const text = await readFile(join(seed, path), 'utf8');
    const replaced = words.reduce((now, word) => now.replaceAll(word, replace[word] ?? ''), text);
    if (replaced === text) continue;
    const blob = await git(seed, ['hash-object', '-w', '--stdin'], { env, input: replaced });
    await git(seed, ['update-index', '--cacheinfo', `${mode},${blob},${path}`], { env });
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
