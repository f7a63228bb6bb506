import { EspalierError } from '../api/index.ts';
import type { FileTree, TreeEntry } from '../git/tree.ts';
import { BlobCache } from './blob-cache.ts';
import type { TextFault } from './fault.ts';
import { type ParsedFile, parseAlone, parseFile, syntaxFault } from './parse.ts';

type Alone = ReturnType<typeof parseAlone>;

/** Source text that parsed files keep alive for their positions, and so about the memory that all of this takes. */
const CACHE_BYTES = 48 * 1024 * 1024;
/** What a result weighs beside its text. */
const ENTRY_BYTES = 512;
/** All text that one read may look at. */
const MAX_BYTES = 128 * 1024 * 1024;
const AT_ONCE = 16;

/** Parses files of trees, each content once. */
export class Files {
  readonly #parsed = new BlobCache<ParsedFile>(CACHE_BYTES);
  readonly #alone = new BlobCache<Alone>(CACHE_BYTES / 4);
  readonly #syntax = new BlobCache<{ fault: TextFault | undefined }>(CACHE_BYTES / 8);

  parse(tree: FileTree, entries: readonly TreeEntry[]): Promise<ParsedFile[]> {
    return each(tree, entries, this.#parsed, parseFile);
  }

  /** For files that stand alone and are of no kind: addon.yaml. */
  parseAlone(tree: FileTree, entries: readonly TreeEntry[]): Promise<Alone[]> {
    return each(tree, entries, this.#alone, parseAlone);
  }

  /** What is wrong with the text of files that don't mention us. */
  async syntaxFaults(tree: FileTree, entries: readonly TreeEntry[]): Promise<(TextFault | undefined)[]> {
    const checked = await each(tree, entries, this.#syntax, (bytes) => ({ fault: syntaxFault(bytes) }));
    return checked.map(({ fault }) => fault);
  }
}

async function each<T>(
  tree: FileTree,
  entries: readonly TreeEntry[],
  cache: BlobCache<T>,
  make: (bytes: Uint8Array) => T,
): Promise<T[]> {
  let left = MAX_BYTES;
  const results: T[] = [];
  const one = async (entry: TreeEntry): Promise<T> => {
    const known = cache.get(entry.oid);
    if (known !== undefined) return known;
    const bytes = await tree.read(entry.path);
    if (bytes === undefined)
      throw new EspalierError('SourceMissing', `${entry.path} is listed at ${tree.commit}, but can't be read.`);
    left -= bytes.length;
    if (left < 0) throw tooMuch();
    const value = make(bytes);
    cache.set(entry.oid, value, bytes.length + ENTRY_BYTES);
    return value;
  };
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    results.push(...(await Promise.all(entries.slice(start, start + AT_ONCE).map(one))));
  }
  return results;
}

function tooMuch(): EspalierError {
  const message = `The YAML files are larger than ${MAX_BYTES / 1024 / 1024} MiB in all: let spec.repository.path of the Sync name a smaller folder.`;
  return new EspalierError('InvalidDeclaration', message, { retry: false });
}
