import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type GitRepository, openRepository, type RepositoryOptions } from '../../../src/git/repository.ts';
import type { GitServer } from './gitserver.ts';

export type BackendName = 'builtin' | 'system';
export const BACKENDS: BackendName[] = ['builtin', 'system'];

/** Tests' servers are on this machine and speak plain http. */
export const ALLOWED = { http: true, privateAddresses: true };

/** Opens `name` on a server into a folder of its own; closed when the test ends. */
export async function openAt(
  context: TestContext,
  root: string,
  server: Pick<GitServer, 'url'>,
  name: string,
  options: Partial<RepositoryOptions> = {},
): Promise<GitRepository & { dir: string }> {
  const dir = options.dir ?? join(root, `store-${randomUUID()}`);
  const repository = await openRepository({
    url: `${server.url}/${name}`,
    dir,
    allow: ALLOWED,
    timeoutMs: 20_000,
    ...options,
  });
  context.after(() => repository.close());
  return { ...repository, dir };
}

/** The content of a file as text; undefined when there is none. */
export async function readText(repository: GitRepository, commit: string, path: string): Promise<string | undefined> {
  const bytes = await repository.tree(commit).read(path);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

export async function pathsOf(repository: GitRepository, commit: string, path = ''): Promise<string[]> {
  const paths: string[] = [];
  for await (const entry of repository.tree(commit).walk(path)) paths.push(entry.path);
  return paths;
}
