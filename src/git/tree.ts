import { EspalierError } from '../api/index.ts';

export type EntryType = 'file' | 'folder' | 'link' | 'submodule';

export interface TreeEntry {
  name: string;
  /** From the root of the tree, with slashes and no leading one. */
  path: string;
  type: EntryType;
  /** Git's object id: equal ids mean equal content, folders included. */
  oid: string;
  /** As Git writes it: 100644, 100755, 040000, 120000, 160000. */
  mode: string;
}

/**
 * The files of one commit (or of a plain folder), for reading. Links and submodules are listed but never followed: a path that
 * leads through one is refused with GitUnsafePath, so nothing that is read can lie outside.
 */
export interface FileTree {
  /** The commit's full id; `local` for a plain folder. */
  readonly commit: string;
  /** The bytes of a file; undefined when there is none at that path (a folder is none). */
  read(path: string): Promise<Uint8Array | undefined>;
  /** What a folder holds, in Git's order; empty when there is no folder at that path (`id` tells a missing one). */
  list(path: string): Promise<TreeEntry[]>;
  /** Everything below a folder, depth first, folders before what they hold. Bounded: too many entries end in GitTooLarge. */
  walk(path: string): AsyncIterable<TreeEntry>;
  /** Object id of the file or folder at a path; undefined when there is none. */
  id(path: string): Promise<string | undefined>;
}

/** For what is made of nothing that a repository has. */
export const NO_FILES: FileTree = {
  commit: 'none',
  read: async () => undefined,
  list: async () => [],
  async *walk() {},
  id: async () => undefined,
};

/** Entries that one walk yields at most: a small hostile repository can describe billions. */
export const MAX_WALK_ENTRIES = 100_000;
export const MAX_WALK_DEPTH = 64;

/** The names on the way to a path inside a tree. `''`, `.` and `/` are the root; `..` is refused. */
export function splitPath(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) {
    throw new EspalierError(
      'GitUnsafePath',
      `The path ${JSON.stringify(path)} leads upwards; write it from the repository's root.`,
      {
        data: { path },
        retry: false,
      },
    );
  }
  return names;
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

export function notFollowed(path: string, type: EntryType): EspalierError {
  const what = type === 'submodule' ? 'a submodule, which is not fetched' : 'a link, which is not followed';
  return new EspalierError('GitUnsafePath', `${JSON.stringify(path)} is ${what}; put the file itself there.`, {
    data: { path, type },
    retry: false,
  });
}

/** Walks by listing, for every kind of tree. */
export async function* walkTree(tree: Pick<FileTree, 'list'>, path: string): AsyncGenerator<TreeEntry> {
  const start = splitPath(path).join('/');
  // Lists that are not yet at their end, from the start to where the walk is.
  const open = [(await tree.list(start)).values()];
  let seen = 0;
  for (let list = open.at(-1); list !== undefined; list = open.at(-1)) {
    const { value: entry, done } = list.next();
    if (done === true) {
      open.pop();
      continue;
    }
    seen += 1;
    if (seen > MAX_WALK_ENTRIES) throw tooLarge(start, `more than ${MAX_WALK_ENTRIES} entries`);
    yield entry;
    if (entry.type !== 'folder') continue;
    if (open.length > MAX_WALK_DEPTH) throw tooLarge(entry.path, `folders nested deeper than ${MAX_WALK_DEPTH}`);
    open.push((await tree.list(entry.path)).values());
  }
}

function tooLarge(path: string, why: string): EspalierError {
  return new EspalierError(
    'GitTooLarge',
    `The folder ${JSON.stringify(path === '' ? '.' : path)} has ${why}; point at a smaller one.`,
    {
      data: { path },
      retry: false,
    },
  );
}
