import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Authority } from '../../src/playground/authority.ts';
import { git } from '../../src/playground/git.ts';
import { type GitServer, type ServedRepository, startGitServer } from '../../src/playground/gitserver.ts';
import { tempDir } from './tempdir.ts';

export { type CommitOptions, commitFiles, type NewFile } from '../../src/playground/gitcommit.ts';

/** A Git server of the test's own, stopped with it. */
export async function testGitServer(
  t: Pick<TestContext, 'after'>,
  options: { authority?: Authority; timeoutMs?: number } = {},
): Promise<GitServer> {
  const server = await startGitServer({ root: join(await tempDir(t), 'repositories'), ...options });
  t.after(() => server.stop());
  return server;
}

/** Makes a ref point to a commit (`refs/tags/v1`), or removes it. */
export async function setRef(
  repository: Pick<ServedRepository, 'folder'>,
  ref: string,
  commit: string | null,
): Promise<void> {
  await git(repository.folder, commit === null ? ['update-ref', '-d', ref] : ['update-ref', ref, commit]);
}

/** Clones over HTTP as a person would and returns the work tree. `config` is passed as `-c`. */
export async function clone(t: Pick<TestContext, 'after'>, url: string, config: string[] = []): Promise<string> {
  const folder = await tempDir(t);
  await git(folder, [...config.flatMap((one) => ['-c', one]), 'clone', '--quiet', url, 'work']);
  return join(folder, 'work');
}
