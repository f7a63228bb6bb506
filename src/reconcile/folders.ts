import type { Plugin } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import { contentKey } from '../resolve/key.ts';
import { syncKeyOf } from './nesting.ts';
import { basesOf } from './wanted.ts';

/** A folder of a Sync's repository, where the Plugin is not written by the Sync: nothing says at which commit. */
export function followsRepository(plugin: Plugin): boolean {
  const { git } = plugin.spec.source;
  return git !== undefined && git.url === undefined && syncKeyOf(plugin) === undefined;
}

/** Id of everything that a folder's Plugin is made of; undefined where there is no such folder. */
export async function folderId(tree: FileTree, plugin: Plugin): Promise<string | undefined> {
  const id = await tree.id(plugin.spec.source.git?.path ?? '.');
  const bases = id === undefined ? undefined : await basesOf(tree, plugin);
  return bases === undefined ? id : contentKey({ bases });
}
