import { inGitOrder } from './foldertree.ts';
import { hashObject } from './objects.ts';
import { type FileTree, joinPath, notFollowed, splitPath, type TreeEntry, walkTree } from './tree.ts';
import { treeBytes } from './treebytes.ts';

/** What lies at a path: bytes, or a link, which is listed and never followed. */
export type MemoryFile = { type: 'file'; data: Uint8Array } | { type: 'link' };

interface Folder {
  entries: TreeEntry[];
  oid: string;
}

/** Files that are in memory, as if they were a commit. Paths have no `..`, and no file lies where a folder is. */
export function memoryTree(files: ReadonlyMap<string, MemoryFile>, commit: string): FileTree {
  const folders = foldersOf(files);

  /** Refuses a path that leads through a link. */
  function clean(path: string): string {
    let way = '';
    for (const name of splitPath(path)) {
      if (files.get(way)?.type === 'link') throw notFollowed(way, 'link');
      way = joinPath(way, name);
    }
    return way;
  }

  const tree: FileTree = {
    commit,
    async read(path) {
      const file = files.get(clean(path));
      if (file?.type === 'link') throw notFollowed(path, 'link');
      return file?.data;
    },
    async list(path) {
      const at = clean(path);
      if (files.get(at)?.type === 'link') throw notFollowed(path, 'link');
      return [...(folders.get(at)?.entries ?? [])];
    },
    walk: (path) => walkTree(tree, path),
    async id(path) {
      const at = clean(path);
      const file = files.get(at);
      return file === undefined ? folders.get(at)?.oid : blobId(file);
    },
  };
  return tree;
}

/** Folders by their path, the deepest ones first: the id of one is made of those in it. */
function foldersOf(files: ReadonlyMap<string, MemoryFile>): Map<string, Folder> {
  const held = new Map<string, TreeEntry[]>([['', []]]);
  const add = (path: string, entry: Omit<TreeEntry, 'name' | 'path'>): void => {
    const cut = path.lastIndexOf('/');
    held.get(path.slice(0, Math.max(cut, 0)))?.push({ name: path.slice(cut + 1), path, ...entry });
  };
  for (const path of files.keys()) {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const folder = path.slice(0, cut);
      if (held.has(folder)) break;
      held.set(folder, []);
    }
  }
  for (const [path, file] of files) {
    add(path, { type: file.type, oid: blobId(file), mode: file.type === 'link' ? '120000' : '100644' });
  }
  const folders = new Map<string, Folder>();
  const depth = (path: string): number => (path === '' ? 0 : path.split('/').length);
  for (const path of [...held.keys()].sort((a, b) => depth(b) - depth(a))) {
    const entries = (held.get(path) ?? []).sort(inGitOrder);
    const oid = hashObject('tree', treeBytes(entries, 'utf8'));
    folders.set(path, { entries, oid });
    if (path !== '') add(path, { type: 'folder', oid, mode: '040000' });
  }
  return folders;
}

function blobId(file: MemoryFile): string {
  return hashObject('blob', file.type === 'link' ? Buffer.alloc(0) : file.data);
}
