import { ByteCache } from './bytecache.ts';
import { damaged, type GitObject, parseTree, type RawEntry } from './objects.ts';

const CACHE_BYTES = 4 * 1024 * 1024;
/** A parsed folder, with its names to look up, takes about this many times the memory of its bytes. */
const PARSED_FACTOR = 8;
/** Up to so many entries looking through them is no slower than a map. */
const FEW = 16;

/** What a tree object says. */
export interface Folder {
  /** In Git's order. */
  readonly entries: readonly RawEntry[];
  /** The first of that name: a tree that somebody made by hand may repeat one. */
  get(name: string): RawEntry | undefined;
}

/** Tree objects, parsed: those used last stay. An id says what a folder holds, so all commits of a repository share them. */
export class Folders {
  readonly #parsed = new ByteCache<string, Folder>(CACHE_BYTES);

  async at(oid: string, need: (oid: string) => Promise<GitObject>): Promise<Folder> {
    const known = this.#parsed.get(oid);
    if (known !== undefined) return known;
    const object = await need(oid);
    if (object.type !== 'tree') throw damaged(`${object.type} ${oid} where a folder belongs`);
    const folder = folderOf(parseTree(object.data));
    this.#parsed.set(oid, folder, object.data.length * PARSED_FACTOR);
    return folder;
  }

  clear(): void {
    this.#parsed.clear();
  }
}

function folderOf(entries: readonly RawEntry[]): Folder {
  if (entries.length <= FEW) return { entries, get: (name) => entries.find((entry) => entry.name === name) };
  let byName: Map<string, RawEntry> | undefined;
  return {
    entries,
    get(name) {
      byName ??= new Map(entries.toReversed().map((entry) => [entry.name, entry]));
      return byName.get(name);
    },
  };
}
