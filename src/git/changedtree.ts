import { EspalierError } from '../api/index.ts';
import { type GitObject, hashObject, type ObjectType } from './objects.ts';
import { type FileTree, joinPath, notFollowed, splitPath, type TreeEntry, walkTree } from './tree.ts';
import { treeBytes } from './treebytes.ts';

/** What a file is to hold; `undefined` removes it. */
export interface FileChange {
  path: string;
  content: string | undefined;
}

export interface ChangedTree {
  /** The files after the changes. Its `commit` is that of the tree before. */
  tree: FileTree;
  /** Git's id of the root folder. */
  id: string;
  /** Files and folders that the tree before may not have, by their ids. */
  made: Map<string, GitObject>;
}

interface Step {
  names: string[];
  content: string | undefined;
}

/** The files of a commit or folder with some of them changed, without writing anything. Folders that become empty go. */
export async function changedTree(before: FileTree, changes: readonly FileChange[]): Promise<ChangedTree> {
  const made = new Map<string, GitObject>();
  /** What is at a path that was touched; `undefined` where nothing is any more. */
  const touched = new Map<string, { oid: string; list?: TreeEntry[]; content?: Buffer } | undefined>();

  function make(type: ObjectType, data: Buffer): string {
    const oid = hashObject(type, data);
    made.set(oid, { type, data });
    return oid;
  }

  function changeFile(path: string, present: TreeEntry | undefined, text: string | undefined): TreeEntry | undefined {
    if (present?.type === 'folder') throw inTheWay(path, 'a folder');
    if (present !== undefined && present.type !== 'file') throw notFollowed(path, present.type);
    if (text === undefined) {
      touched.set(path, undefined);
      return undefined;
    }
    const content = Buffer.from(text);
    const oid = make('blob', content);
    touched.set(path, { oid, content });
    return { name: nameIn(path), path, type: 'file', oid, mode: present?.mode ?? '100644' };
  }

  async function changeFolder(path: string, steps: readonly Step[]): Promise<TreeEntry | undefined> {
    const entries = new Map((await before.list(path)).map((entry) => [entry.name, entry]));
    for (const name of entries.keys()) if (name.includes('\u{FFFD}')) throw notUtf8(path);
    for (const [name, below] of byFirstName(steps)) {
      const inner = joinPath(path, name);
      const present = entries.get(name);
      const file = below.find(({ names }) => names.length === 0);
      if (file === undefined && present?.type === 'file') throw inTheWay(inner, 'a file');
      const changed = file === undefined ? await changeFolder(inner, below) : changeFile(inner, present, file.content);
      if (changed === undefined) entries.delete(name);
      else entries.set(name, changed);
    }
    if (entries.size === 0 && path !== '') {
      touched.set(path, undefined);
      return undefined;
    }
    const list = [...entries.values()];
    const oid = make('tree', treeBytes(list, 'utf8'));
    touched.set(path, { oid, list });
    return { name: nameIn(path), path, type: 'folder', oid, mode: '040000' };
  }

  const steps = changes.map(({ path, content }) => ({ names: splitPath(path), content }));
  const root = await changeFolder('', steps);
  const at = (path: string): string => splitPath(path).join('/');
  const tree: FileTree = {
    commit: before.commit,
    async read(path) {
      const found = touched.get(at(path));
      if (found?.content !== undefined) return new Uint8Array(found.content);
      return touched.has(at(path)) ? undefined : await before.read(path);
    },
    async list(path) {
      return touched.has(at(path)) ? [...(touched.get(at(path))?.list ?? [])] : await before.list(path);
    },
    walk: (path) => walkTree(tree, path),
    async id(path) {
      return touched.has(at(path)) ? touched.get(at(path))?.oid : await before.id(path);
    },
  };
  return { tree, id: root?.oid ?? '', made };
}

function byFirstName(steps: readonly Step[]): Map<string, Step[]> {
  const groups = new Map<string, Step[]>();
  for (const { names, content } of steps) {
    const [first = '', ...rest] = names;
    groups.set(first, [...(groups.get(first) ?? []), { names: rest, content }]);
  }
  return groups;
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function inTheWay(path: string, what: string): EspalierError {
  return new EspalierError('GitUnsafePath', `${JSON.stringify(path)} is ${what}, which is in the way of the change.`, {
    data: { path },
    retry: false,
  });
}

/** Written again, such a name would be another one. */
function notUtf8(path: string): EspalierError {
  return new EspalierError(
    'GitUnsafePath',
    `The folder ${JSON.stringify(path === '' ? '.' : path)} has a name that is not UTF-8, so it can't be changed here; use git.`,
    { data: { path }, retry: false },
  );
}
