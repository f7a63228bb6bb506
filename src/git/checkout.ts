import { lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { runProgram } from '../tools/run.ts';
import type { FileChange } from './changedtree.ts';
import { findGit } from './gitprogram.ts';
import type { Person } from './newcommit.ts';
import { joinPath, notFollowed, splitPath } from './tree.ts';

const TIMEOUT_MS = 60_000;
/** They would lead git to another repository than the one in the folder. */
const ELSEWHERE = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_NAMESPACE', 'GIT_PREFIX'];

/** Runs a person's own git in a folder of theirs, with their settings, hooks and keys. */
async function ownGit(dir: string, args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const path = await findGit();
  if (path === undefined)
    throw new EspalierError('ToolMissing', 'the program git is needed for commits in a folder; install it');
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || ELSEWHERE.includes(name) ? [] : [[name, value]],
    ),
  );
  return await runProgram(path, { args, cwd: dir, env: { ...env, LC_ALL: 'C' }, timeoutMs: TIMEOUT_MS });
}

/** The branch that a folder of a checkout is on. */
export async function branchOfCheckout(dir: string): Promise<string> {
  const { code } = await ownGit(dir, ['rev-parse', '--is-inside-work-tree']);
  if (code !== 0)
    throw refused(`${dir} is not in a Git checkout; run git init there, or give the URL of the repository`);
  const { stdout } = await ownGit(dir, ['symbolic-ref', '--short', '--quiet', 'HEAD']);
  if (stdout.trim() === '') throw refused(`${dir} is on no branch; check one out first`);
  return stdout.trim();
}

/** Who commits here, by the settings and the environment of the person; undefined where those don't say. */
export async function ownIdentity(dir: string): Promise<Person | undefined> {
  const { code, stdout } = await ownGit(dir, ['-c', 'user.useConfigOnly=true', 'var', 'GIT_AUTHOR_IDENT']);
  const [, name, email] = code === 0 ? (/^(.+) <([^>]+)> \d+ \S+$/.exec(stdout.trim()) ?? []) : [];
  return name === undefined || email === undefined ? undefined : { name, email };
}

export interface CheckoutCommit {
  changes: readonly FileChange[];
  message: string;
  /** Absent: who the settings of git name. */
  author?: Person | undefined;
}

/**
 * One commit of just these files in a checkout, on the branch that it is on. What else the person changed or staged stays as it is.
 * Refused where one of these files has changes that are not committed; where the commit fails, the files are as before.
 */
export async function commitInCheckout(dir: string, { changes, message, author }: CheckoutCommit): Promise<string> {
  const paths = changes.map(({ path }) => splitPath(path).join('/'));
  for (const path of paths) await refuseLinks(dir, path);
  const status = await must(dir, ['status', '--porcelain', '--untracked-files=all', '--ignored', '--', ...paths]);
  if (status.trim() !== '') {
    const files = status
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(3));
    throw refused(`${files.join(', ')} in ${dir} has changes that are not committed; commit or undo them first`);
  }
  const before = await Promise.all(paths.map((path) => readFile(join(dir, path)).catch(() => undefined)));
  try {
    for (const [index, { content }] of changes.entries()) await put(join(dir, paths[index] ?? ''), content);
    await must(dir, ['add', '--', ...paths]);
    await must(dir, [
      ...(await identityArgs(dir, author)),
      'commit',
      '--quiet',
      '--only',
      '-m',
      message,
      '--',
      ...paths,
    ]);
  } catch (error) {
    for (const [index, content] of before.entries()) await put(join(dir, paths[index] ?? ''), content);
    await ownGit(dir, ['reset', '--quiet', '--', ...paths]);
    throw error;
  }
  return (await must(dir, ['rev-parse', 'HEAD'])).trim();
}

/** With an author but no settings, the author commits too. */
async function identityArgs(dir: string, author: Person | undefined): Promise<string[]> {
  const own = await ownIdentity(dir);
  const person = author ?? own;
  if (person === undefined)
    throw refused('git does not know who you are; set user.name and user.email, or give --author "Name <email>"');
  const committer = own ?? person;
  return [
    ...['-c', `user.name=${committer.name}`, '-c', `user.email=${committer.email}`],
    ...['-c', `author.name=${person.name}`, '-c', `author.email=${person.email}`],
  ];
}

async function must(dir: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ownGit(dir, args);
  if (code === 0) return stdout;
  throw refused(`git failed in ${dir}: ${(stderr.trim() || stdout.trim()).slice(0, 2000)}`);
}

async function put(file: string, content: string | Uint8Array | undefined): Promise<void> {
  if (content === undefined) return await rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

/** Nothing is written where a link leads. */
async function refuseLinks(dir: string, path: string): Promise<void> {
  let way = '';
  for (const name of splitPath(path)) {
    way = joinPath(way, name);
    const found = await lstat(join(dir, way)).catch(() => undefined);
    if (found?.isSymbolicLink() === true) throw notFollowed(way, 'link');
  }
}

function refused(message: string): EspalierError {
  return new EspalierError('CommandRefused', message);
}
