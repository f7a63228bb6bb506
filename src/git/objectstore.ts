import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, isError } from '../api/index.ts';
import { ByteCache } from './bytecache.ts';
import { Folders } from './folders.ts';
import { damaged, type GitObject, hashObject } from './objects.ts';
import { PackFile } from './packfile.ts';

const CACHE_BYTES = 8 * 1024 * 1024;
/** Memory and open files are given back when nobody has read for this long. */
const IDLE_MS = 10_000;
const RACY_MS = 50;

/**
 * Reads objects of a bare repository, from packs that either backend wrote. Packs are read where they lie, never whole, and
 * each object is checked against its id. Packs may come and go while it reads.
 */
export class ObjectStore {
  /** Folders of what it holds. They go when a pack does, and when nobody reads. */
  readonly folders = new Folders();
  readonly #folder: string;
  readonly #maxObjectBytes: number;
  readonly #cache = new ByteCache<number, GitObject>(CACHE_BYTES);
  /** What was fetched last, for it is read next. */
  readonly #arrived = new ByteCache<string, GitObject>(CACHE_BYTES);
  #packs: PackFile[] = [];
  #seen = '';
  #count = 0;
  #loading: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #damaged = false;

  constructor(repository: string, maxObjectBytes: number) {
    this.#folder = join(repository, 'objects', 'pack');
    this.#maxObjectBytes = maxObjectBytes;
  }

  /** True once an object was missing or wrong: what is stored must be fetched anew. */
  get damaged(): boolean {
    return this.#damaged;
  }

  /** How many packs there were when it last looked. */
  get packs(): number {
    return this.#packs.length;
  }

  async has(oid: string): Promise<boolean> {
    return (await this.#find(oid)) !== undefined;
  }

  /** Undefined when the store does not hold it. */
  async read(oid: string): Promise<GitObject | undefined> {
    let found = await this.#find(oid);
    while (found?.pack.retired === true) found = await this.#find(oid);
    if (found === undefined) return undefined;
    const arrived = this.#arrived.get(oid);
    if (arrived !== undefined) return arrived;
    try {
      const object = await found.pack.read(found.offset, this.#maxObjectBytes, this.#cache);
      if (hashObject(object.type, object.data) !== oid) throw damaged(`an object that is not ${oid}`);
      return object;
    } catch (error) {
      if (isError(error, 'GitTooLarge')) throw error;
      this.#damaged = true;
      throw error instanceof EspalierError ? error : damaged(`object ${oid}`, error);
    }
  }

  /** An object of a pack that is about to be stored, with the id that its contents have. */
  arrived(oid: string, object: GitObject): void {
    this.#arrived.set(oid, object, object.data.length);
    this.#keepAwhile();
  }

  /** For what a stored commit refers to: not to have it means that the store is damaged. */
  async need(oid: string): Promise<GitObject> {
    const object = await this.read(oid);
    if (object !== undefined) return object;
    this.#damaged = true;
    throw damaged(`no object ${oid}`);
  }

  /** Looks again at what is stored: packs that were removed count as gone, though open ones could still be read. */
  async refresh(): Promise<void> {
    if (this.#seen !== '') await this.#reload();
  }

  /** Forgets everything, damage included: for after the packs were removed. */
  async reset(): Promise<void> {
    await this.close();
    this.#damaged = false;
  }

  /** Gives memory and files back. The next read opens them again. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#idle = undefined;
    await this.#loading;
    const packs = this.#packs;
    this.#packs = [];
    this.#seen = '';
    this.#cache.clear();
    this.#arrived.clear();
    this.folders.clear();
    await Promise.all(packs.map((pack) => pack.retire()));
  }

  async #find(oid: string): Promise<{ pack: PackFile; offset: number } | undefined> {
    this.#keepAwhile();
    return this.#search(oid) ?? ((await this.#reload()) ? this.#search(oid) : undefined);
  }

  #keepAwhile(): void {
    this.#idle ??= setTimeout(() => void this.close(), IDLE_MS).unref();
    this.#idle.refresh();
  }

  #search(oid: string): { pack: PackFile; offset: number } | undefined {
    for (const pack of this.#packs) {
      const offset = pack.find(oid);
      if (offset !== undefined) return { pack, offset };
    }
    return undefined;
  }

  /** Looks at the folder again when it changed. False when there is nothing new in it. */
  async #reload(): Promise<boolean> {
    const waited = this.#loading !== undefined;
    await this.#loading;
    const { mtimeMs, mtimeNs } = await stat(this.#folder, { bigint: true });
    if (`${mtimeNs}` === this.#seen) return waited;
    // A change within the same tick of the clock would not show: such a time is no proof that all was seen.
    const seen = Date.now() - Number(mtimeMs) > RACY_MS ? `${mtimeNs}` : 'racy';
    this.#loading ??= this.#load(seen).finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
    return true;
  }

  async #load(seen: string): Promise<void> {
    const files = new Set(await readdir(this.#folder));
    const names = [...files].filter((file) => file.endsWith('.idx')).map((file) => file.slice(0, -4));
    const kept = this.#packs.filter((pack) => names.includes(pack.name));
    const gone = this.#packs.filter((pack) => !kept.includes(pack));
    const opened: PackFile[] = [];
    for (const name of names) {
      if (kept.some((pack) => pack.name === name) || !files.has(`${name}.pack`)) continue;
      try {
        opened.push(await PackFile.open(this.#folder, name, this.#count++));
      } catch (error) {
        if (isError(error)) this.#damaged = true;
        else if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      }
    }
    // The newest first: it holds what is read next.
    this.#packs = [...opened.reverse(), ...kept];
    this.#seen = seen;
    if (gone.length > 0) this.folders.clear();
    await Promise.all(gone.map((pack) => pack.retire()));
  }
}
