import { EspalierError } from '../api/index.ts';
import { needFor, notStored, objectTree } from './gittree.ts';
import { mergeLines } from './mergelines.ts';
import { damaged, type GitObject, hashObject, parseCommit, parseTree } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';
import { type FileTree, joinPath, MAX_WALK_DEPTH, MAX_WALK_ENTRIES } from './tree.ts';
import { type NamedEntry, treeBytes } from './treebytes.ts';

export interface Merge {
  /** The files after the merge. Its `commit` is the head's. */
  tree: FileTree;
  /** Git's id of the root folder. */
  id: string;
  /** Paths at which the two sides can't be joined, sorted. The tree has the head's version there. */
  conflicts: string[];
}

interface Entry {
  mode: string;
  oid: string;
}

/** One thing as it is in the ancestor, the base and the head. */
interface Three<T> {
  ancestor: T | undefined;
  base: T | undefined;
  head: T | undefined;
}

/** Bytes of all files and folders that a merge makes: they are in memory as long as its tree is. */
const MAX_MADE_BYTES = 32 * 1024 * 1024;
const FOLDER = '040000';

/**
 * What merging a head into a base would make, as `git merge` has it, without writing anything. Folders that one side alone
 * changed are taken by their ids and not looked into.
 *
 * Renames are not followed: a file that one side renamed and the other changed is a conflict here (deleted and changed), where Git
 * may put the change into the renamed file. Where Git finds a conflict only because it follows a rename (both sides renamed one file
 * differently, one renamed what the other deleted, or a file was added to a folder that was renamed), there is none here.
 * Merge drivers and other attributes in `.gitattributes` have no effect.
 */
export async function mergeTrees(
  store: Pick<ObjectStore, 'read' | 'need' | 'has'>,
  commits: { base: string; head: string; ancestor: string },
): Promise<Merge> {
  const made = new Map<string, GitObject>();
  const conflicts: string[] = [];
  const need = needFor(store, [commits.base, commits.head, commits.ancestor]);
  let [bytes, seen] = [0, 0];

  async function rootOf(commit: string): Promise<Entry> {
    const object = await store.read(commit);
    if (object?.type === 'commit') return { mode: FOLDER, oid: parseCommit(commit, object.data).tree };
    throw notStored(commit);
  }

  async function entriesOf(folder: Entry | undefined): Promise<Map<string, Entry>> {
    const entries = new Map<string, Entry>();
    if (folder === undefined) return entries;
    const object = await need(folder.oid);
    if (object.type !== 'tree') throw damaged(`${object.type} ${folder.oid} where a folder belongs`);
    // Names as bytes: one that is not UTF-8 must come out as it went in.
    for (const { name, mode, oid } of parseTree(object.data, 'latin1')) entries.set(name, { mode: plain(mode), oid });
    seen += entries.size;
    if (seen > MAX_WALK_ENTRIES) throw tooLarge(`compare more than ${MAX_WALK_ENTRIES} entries`);
    return entries;
  }

  async function textOf(file: Entry | undefined): Promise<Buffer> {
    if (file === undefined || kindOf(file) !== 'file') return Buffer.alloc(0);
    const object = await need(file.oid);
    if (object.type !== 'blob') throw damaged(`${object.type} ${file.oid} where a file belongs`);
    return object.data;
  }

  function make(type: 'tree' | 'blob', data: Buffer): string {
    bytes += data.length;
    if (bytes > MAX_MADE_BYTES) throw tooLarge('make more than fits into memory');
    const oid = hashObject(type, data);
    made.set(oid, { type, data });
    return oid;
  }

  function conflict(path: string, kept: Entry | undefined): Entry | undefined {
    conflicts.push(Buffer.from(path, 'latin1').toString());
    return kept;
  }

  async function mergeEntry(path: string, three: Three<Entry>, depth: number): Promise<Entry | undefined> {
    const settled = settle(three);
    if (settled !== 'open') return settled.entry;
    const leaf = await mergeLeaf(
      path,
      only(three, (entry) => kindOf(entry) !== 'folder'),
    );
    const folder = await mergeFolder(
      path,
      only(three, (entry) => kindOf(entry) === 'folder'),
      depth,
    );
    if (leaf === undefined || folder === undefined) return leaf ?? folder;
    return conflict(path, three.head !== undefined && kindOf(three.head) === 'folder' ? folder : leaf);
  }

  async function mergeLeaf(path: string, three: Three<Entry>): Promise<Entry | undefined> {
    const settled = settle(three);
    if (settled !== 'open') return settled.entry;
    const { ancestor, base, head } = three;
    if (base === undefined || head === undefined) return conflict(path, head);
    if (kindOf(base) !== 'file' || kindOf(head) !== 'file') return conflict(path, head);
    const mode = settleValue(ancestor?.mode, base.mode, head.mode);
    let oid = settleValue(ancestor?.oid, base.oid, head.oid);
    if (oid === undefined) {
      const merged = mergeLines(await textOf(ancestor), await textOf(base), await textOf(head));
      oid = merged && make('blob', merged);
    }
    return mode === undefined || oid === undefined ? conflict(path, head) : { mode, oid };
  }

  async function mergeFolder(path: string, three: Three<Entry>, depth: number): Promise<Entry | undefined> {
    const settled = settle(three);
    if (settled !== 'open') return settled.entry;
    if (depth > MAX_WALK_DEPTH) throw tooLarge(`compare folders nested deeper than ${MAX_WALK_DEPTH}`);
    const ancestor = await entriesOf(three.ancestor);
    const base = await entriesOf(three.base);
    const head = await entriesOf(three.head);
    const merged: NamedEntry[] = [];
    for (const name of new Set([...ancestor.keys(), ...base.keys(), ...head.keys()])) {
      const below = { ancestor: ancestor.get(name), base: base.get(name), head: head.get(name) };
      const entry = await mergeEntry(joinPath(path, name), below, depth + 1);
      if (entry !== undefined) merged.push({ name, ...entry });
    }
    // Git knows no empty folders, but for the root.
    if (merged.length === 0 && depth > 0) return undefined;
    return { mode: FOLDER, oid: make('tree', treeBytes(merged, 'latin1')) };
  }

  const root = await mergeFolder(
    '',
    {
      ancestor: await rootOf(commits.ancestor),
      base: await rootOf(commits.base),
      head: await rootOf(commits.head),
    },
    0,
  );
  const id = root?.oid ?? make('tree', Buffer.alloc(0));
  const tree = objectTree(commits.head, {
    root: async () => id,
    need: async (oid) => made.get(oid) ?? (await need(oid)),
  });
  return { tree, id, conflicts: [...new Set(conflicts)].sort() };
}

/** What needs no look inside: one side left it as it was, or both have the same now. */
function settle({ ancestor, base, head }: Three<Entry>): { entry: Entry | undefined } | 'open' {
  if (same(base, head) || same(ancestor, base)) return { entry: head };
  return same(ancestor, head) ? { entry: base } : 'open';
}

function settleValue(ancestor: string | undefined, base: string, head: string): string | undefined {
  if (base === head || ancestor === base) return head;
  return ancestor === head ? base : undefined;
}

function same(one: Entry | undefined, other: Entry | undefined): boolean {
  return one?.mode === other?.mode && one?.oid === other?.oid;
}

function only(three: Three<Entry>, wanted: (entry: Entry) => boolean): Three<Entry> {
  const pick = (entry: Entry | undefined): Entry | undefined =>
    entry !== undefined && wanted(entry) ? entry : undefined;
  return { ancestor: pick(three.ancestor), base: pick(three.base), head: pick(three.head) };
}

function kindOf({ mode }: Entry): 'file' | 'folder' | 'other' {
  if (mode === FOLDER) return 'folder';
  return mode.startsWith('10') ? 'file' : 'other';
}

/** Git tells apart executable files and others, whatever mode an old program wrote. */
function plain(mode: string): string {
  if (!mode.startsWith('10')) return mode;
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755';
}

function tooLarge(what: string): EspalierError {
  return new EspalierError('GitTooLarge', `Merging would have to ${what}; make a smaller pull request.`, {
    retry: false,
  });
}
