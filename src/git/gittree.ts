import { EspalierError } from '../api/index.ts';
import { Folders } from './folders.ts';
import { damaged, type GitObject, isOid, parseCommit } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';
import { type FileTree, joinPath, notFollowed, splitPath, type TreeEntry, walkTree } from './tree.ts';

/** The files of a commit, read from the object store: there is no work tree that could be half done or lead elsewhere. */
export function gitTree(store: Pick<ObjectStore, 'read' | 'need' | 'has' | 'folders'>, commit: string): FileTree {
  const objects: TreeObjects = {
    async root() {
      const object = isOid(commit) ? await store.read(commit) : undefined;
      if (object?.type !== 'commit') throw notStored(commit);
      return parseCommit(commit, object.data).tree;
    },
    need: needFor(store, [commit]),
  };
  return objectTree(commit, objects, store.folders);
}

export function notStored(commit: string): EspalierError {
  return new EspalierError('GitNotFound', `Commit ${commit} is not stored here; fetch it first.`, {
    data: { commit },
  });
}

/** Reads what these commits are made of. Where one of them was dropped meanwhile, missing objects are no damage. */
export function needFor(
  store: Pick<ObjectStore, 'read' | 'need' | 'has'>,
  commits: string[],
): (oid: string) => Promise<GitObject> {
  return async (oid) => {
    const object = await store.read(oid);
    if (object !== undefined) return object;
    for (const commit of commits) if (!(await store.has(commit))) throw notStored(commit);
    return await store.need(oid);
  };
}

export interface TreeObjects {
  /** Id of the root folder. */
  root(): Promise<string>;
  need(oid: string): Promise<GitObject>;
}

/**
 * The files below a folder, wherever its objects come from. `commit` is what the tree says of itself. `folders`: those of
 * other trees that are made of the same objects.
 */
export function objectTree(commit: string, objects: TreeObjects, folders = new Folders()): FileTree {
  let root: Promise<string> | undefined;

  /** The entry at a path; `undefined` when there is none. The root is a folder like any other. */
  async function entryAt(path: string): Promise<{ oid: string; type: TreeEntry['type'] } | undefined> {
    root ??= objects.root().catch((error: unknown) => {
      root = undefined;
      throw error;
    });
    let at: { oid: string; type: TreeEntry['type'] } = { oid: await root, type: 'folder' };
    let way = '';
    for (const name of splitPath(path)) {
      if (at.type === 'link' || at.type === 'submodule') throw notFollowed(way, at.type);
      if (at.type === 'file') return undefined;
      const entry = (await folders.at(at.oid, objects.need)).get(name);
      if (entry === undefined) return undefined;
      at = entry;
      way = joinPath(way, name);
    }
    return at;
  }

  const tree: FileTree = {
    commit,
    async read(path) {
      const entry = await entryAt(path);
      if (entry === undefined || entry.type === 'folder') return undefined;
      if (entry.type !== 'file') throw notFollowed(path, entry.type);
      const object = await objects.need(entry.oid);
      if (object.type !== 'blob') throw damaged(`${object.type} ${entry.oid} where a file belongs`);
      // A copy: what the cache holds must stay as it is named.
      return new Uint8Array(object.data);
    },
    async list(path) {
      const entry = await entryAt(path);
      if (entry === undefined || entry.type === 'file') return [];
      if (entry.type !== 'folder') throw notFollowed(path, entry.type);
      const folder = splitPath(path).join('/');
      const { entries } = await folders.at(entry.oid, objects.need);
      return entries.map(({ name, oid, mode, type }) => ({
        name,
        path: joinPath(folder, name),
        type,
        oid,
        mode,
      }));
    },
    walk: (path) => walkTree(tree, path),
    async id(path) {
      return (await entryAt(path))?.oid;
    },
  };
  return tree;
}
