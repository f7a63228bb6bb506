import { stat } from 'node:fs/promises';
import { EspalierError, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { folderTree } from '../git/foldertree.ts';
import type { RefSpec } from '../git/ref.ts';
import type { GitRepository } from '../git/repository.ts';
import type { FileTree } from '../git/tree.ts';
import { baseOf, type History, historySince } from '../reconcile/history.ts';
import { withRepository } from './repository.ts';

export interface SourceFlags {
  ref?: string;
  path?: string;
}

/** Opens what a command line names as its source: a folder, or a Git URL at a ref. A cluster is asked for credentials only. */
export async function withTree<T>(
  client: KubeClient | undefined,
  sync: Sync,
  source: string,
  flags: SourceFlags,
  use: (tree: FileTree, history: History) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  if (!isUrl(source)) {
    const found = await stat(source).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      throw new EspalierError('InvalidConfiguration', `"${source}" is neither a folder nor a Git URL`, {
        retry: false,
      });
    }
    const tree = folderTree(source);
    await mustHave(tree, flags.path, source);
    return await use(tree, 'forward');
  }
  const read = async (repository: GitRepository): Promise<T> => {
    const { commit, ref } = await repository.resolve(
      flags.ref === undefined ? (sync.spec.repository.ref ?? {}) : refSpec(flags.ref),
    );
    await repository.fetch(commit, ref);
    await mustHave(repository.tree(commit), flags.path, `${source} at ${commit.slice(0, 10)}`);
    return await use(repository.tree(commit), await historySince(repository, baseOf(sync), commit));
  };
  return await withRepository(client, sync, source, read, { signal });
}

async function mustHave(tree: FileTree, path: string | undefined, where: string): Promise<void> {
  if (path === undefined || (await tree.id(path)) !== undefined) return;
  throw new EspalierError('InvalidConfiguration', `--path: there is no folder "${path}" in ${where}`, { retry: false });
}

export function isUrl(source: string): boolean {
  return /^[a-z+]+:\/\//.test(source) || /^[^/\s]+@[^/\s]+:/.test(source);
}

/** A whole object id is a commit, `refs/tags/…` a tag, anything else a branch. */
export function refSpec(text: string): RefSpec {
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)) return { commit: text };
  if (text.startsWith('refs/tags/')) return { tag: text.slice('refs/tags/'.length) };
  return { branch: text.replace(/^refs\/heads\//, '') };
}
