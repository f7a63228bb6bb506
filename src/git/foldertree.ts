import { constants } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from './limits.ts';
import { hashObject } from './objects.ts';
import { tooLarge } from './packentry.ts';
import { type EntryType, type FileTree, joinPath, notFollowed, splitPath, type TreeEntry, walkTree } from './tree.ts';
import { treeBytes } from './treebytes.ts';

const MODES: Record<EntryType, string> = { file: '100644', folder: '040000', link: '120000', submodule: '160000' };

/**
 * A plain folder as if all of it were committed, with the object ids that Git would give. `.git` is left out, ignored files
 * are not. Links are listed but never followed, as in a commit. Names and ids are those of the first look at a folder.
 */
export function folderTree(directory: string): FileTree {
  const lists = new Map<string, Promise<TreeEntry[]>>();

  /** What is at a path; refuses one that leads through a link. Sockets, devices and pipes count as nothing. */
  async function look(path: string): Promise<{ type: EntryType; mode: string } | undefined> {
    let found: { type: EntryType; mode: string } = { type: 'folder', mode: MODES.folder };
    let way = '';
    for (const name of splitPath(path)) {
      if (found.type === 'link') throw notFollowed(way, found.type);
      way = joinPath(way, name);
      const next = found.type === 'folder' && name !== '.git' ? await lookAt(join(directory, way)) : undefined;
      if (next === undefined) return undefined;
      found = next;
    }
    return found;
  }

  async function idOf(path: string, type: EntryType): Promise<string> {
    if (type === 'link') return hashObject('blob', await readlink(join(directory, path), { encoding: 'buffer' }));
    if (type === 'file') return hashObject('blob', await readRegular(join(directory, path)));
    return hashObject('tree', treeBytes(await tree.list(path), 'utf8'));
  }

  async function listFolder(folder: string): Promise<TreeEntry[]> {
    const entries: TreeEntry[] = [];
    for (const name of await readdir(join(directory, folder))) {
      const path = joinPath(folder, name);
      const child = name === '.git' ? undefined : await lookAt(join(directory, path));
      if (child === undefined) continue;
      const oid = await idOf(path, child.type);
      // Git knows no empty folders.
      if (oid !== EMPTY_TREE) entries.push({ name, path, oid, ...child });
    }
    return entries.sort(inGitOrder);
  }

  const tree: FileTree = {
    commit: 'local',
    async read(path) {
      const found = await look(path);
      if (found === undefined || found.type === 'folder') return undefined;
      if (found.type !== 'file') throw notFollowed(path, found.type);
      return readRegular(join(directory, ...splitPath(path)));
    },
    async list(path) {
      const found = await look(path);
      if (found === undefined || found.type === 'file') return [];
      if (found.type !== 'folder') throw notFollowed(path, found.type);
      const folder = splitPath(path).join('/');
      const known = lists.get(folder) ?? listFolder(folder);
      lists.set(folder, known);
      return [...(await known)];
    },
    walk: (path) => walkTree(tree, path),
    async id(path) {
      const found = await look(path);
      return found === undefined ? undefined : idOf(splitPath(path).join('/'), found.type);
    },
  };
  return tree;
}

const EMPTY_TREE = hashObject('tree', Buffer.alloc(0));

async function lookAt(file: string): Promise<{ type: EntryType; mode: string } | undefined> {
  try {
    const state = await lstat(file);
    if (state.isSymbolicLink()) return { type: 'link', mode: MODES.link };
    if (state.isDirectory()) return { type: 'folder', mode: MODES.folder };
    if (state.isFile()) return { type: 'file', mode: (state.mode & 0o100) === 0 ? MODES.file : '100755' };
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readRegular(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await handle.stat();
    if (size > DEFAULT_LIMITS.objectBytes) throw tooLarge(size, DEFAULT_LIMITS.objectBytes);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Git sorts names by bytes, a folder as if its name ended with a slash. */
export function inGitOrder(a: TreeEntry, b: TreeEntry): number {
  const key = (entry: TreeEntry): Buffer => Buffer.from(entry.type === 'folder' ? `${entry.name}/` : entry.name);
  return Buffer.compare(key(a), key(b));
}
