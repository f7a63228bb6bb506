import type { Plugin, Sync } from '../../api/index.ts';
import type { FileTree } from '../../git/tree.ts';
import { contentKey } from '../../resolve/key.ts';
import { folderId, followsRepository } from '../folders.ts';
import { rootOf, syncKeyOf } from '../nesting.ts';
import { keyOf } from '../store.ts';

export interface TouchedFoldersInput {
  sync: Sync;
  /** Every Plugin in the cluster. */
  plugins: readonly Plugin[];
  before: FileTree;
  after: FileTree;
}

/**
 * Plugins of the Sync in which another is nested whose folder of the repository is another now: what declares them is as
 * before. With a hash of those folders.
 */
export async function touchedFolders({
  sync,
  plugins,
  before,
  after,
}: TouchedFoldersInput): Promise<Map<string, string>> {
  const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const touched = new Map<string, string>();
  for (const plugin of plugins.filter(followsRepository)) {
    const root = rootOf(plugin, (key) => live.get(key));
    if (root === undefined || syncKeyOf(root) !== keyOf(sync)) continue;
    const [was, is] = await Promise.all([before, after].map((tree) => folderId(tree, plugin)));
    const key = keyOf(root);
    if (was !== is) touched.set(key, contentKey({ is: is ?? '', more: touched.get(key) ?? '' }));
  }
  return touched;
}
