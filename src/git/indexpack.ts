import { type FileHandle, open } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { EspalierError } from '../api/index.ts';
import { ByteCache } from './bytecache.ts';
import { type ChainOptions, readWhole } from './deltachain.ts';
import type { GitLimits } from './limits.ts';
import { damaged, type GitObject, hashObject } from './objects.ts';
import { type ByteSource, type PackEntry, readEntry } from './packentry.ts';
import type { PackContents } from './packindex.ts';

const CACHE_BYTES = 32 * 1024 * 1024;
const WINDOW = 1024 * 1024;
/** Work this long, then let others have their turn. */
const SLICE_MS = 10;

export interface ReceivedPack {
  path: string;
  bytes: number;
  objects: number;
  checksum: string;
}

/**
 * Names every object of a received pack. Anything wrong with it is an error: a pack that passes holds what it says. Memory
 * stays within the cache, one object and the names, whatever the pack's size. `onObject` gets each object as it is named.
 */
export async function indexPack(
  pack: ReceivedPack,
  limits: GitLimits,
  signal: AbortSignal,
  onObject: (oid: string, object: GitObject) => void = () => {},
): Promise<PackContents> {
  const file = await open(pack.path, 'r');
  try {
    return await new Indexing(file, pack, limits, signal, onObject).run();
  } catch (error) {
    if (!(error instanceof EspalierError) || error.code !== 'GitStoreDamaged') throw error;
    throw new EspalierError(
      'GitProtocolError',
      'The server sent a pack that is not sound; trying again fetches it anew.',
      { cause: error },
    );
  } finally {
    await file.close();
  }
}

class Indexing {
  readonly #pack: ReceivedPack;
  readonly #source: ByteSource;
  readonly #chain: ChainOptions;
  readonly #signal: AbortSignal;
  readonly #onObject: (oid: string, object: GitObject) => void;
  readonly #contents: PackContents;
  readonly #offsets = new Map<string, number>();
  /** Deltas (as positions) by the base that has no name yet: an object id or an offset. */
  readonly #waiting = new Map<string | number, number[]>();
  readonly #unnamed = new Set<number>();
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(
    file: FileHandle,
    pack: ReceivedPack,
    limits: GitLimits,
    signal: AbortSignal,
    onObject: (oid: string, object: GitObject) => void,
  ) {
    this.#pack = pack;
    this.#signal = signal;
    this.#onObject = onObject;
    this.#source = windowOf(file, pack.bytes - 20);
    this.#contents = { oids: [], offsets: [], crcs: [], checksum: pack.checksum };
    this.#chain = {
      source: this.#source,
      cache: new ByteCache<number, GitObject>(CACHE_BYTES),
      maxObjectBytes: limits.objectBytes,
      find: (oid) => this.#offsets.get(oid),
    };
  }

  async run(): Promise<PackContents> {
    const { oids, offsets, crcs } = this.#contents;
    let at = 12;
    for (let position = 0; position < this.#pack.objects; position += 1) {
      const entry = await readEntry(this.#source, at, this.#chain.maxObjectBytes);
      const bytes = await this.#source(at, entry.end - at);
      oids.push('');
      offsets.push(at);
      crcs.push(crc32(bytes.subarray(0, entry.end - at)));
      await this.#take(position, entry);
      at = entry.end;
      if (performance.now() > this.#sliceEnd) await this.#breathe();
    }
    if (at !== this.#pack.bytes - 20) throw damaged('a pack with more than it says');
    if (this.#unnamed.size > 0) throw damaged('deltas on objects that their pack lacks');
    return this.#contents;
  }

  /** Names an object when its base has a name; a base may come later in the pack, and then the delta waits for it. */
  async #take(position: number, entry: PackEntry): Promise<void> {
    const offset = this.#contents.offsets[position] ?? 0;
    const { base } = entry;
    const ready = base === undefined || (typeof base === 'string' ? this.#offsets.has(base) : !this.#unnamed.has(base));
    if (ready) return this.#name(position, entry);
    this.#unnamed.add(offset);
    const others = this.#waiting.get(base);
    if (others === undefined) this.#waiting.set(base, [position]);
    else others.push(position);
  }

  async #name(first: number, entry: PackEntry): Promise<void> {
    const { oids, offsets } = this.#contents;
    const ready = [first];
    for (let position = ready.pop(); position !== undefined; position = ready.pop()) {
      const offset = offsets[position] ?? 0;
      const object = await readWhole(offset, this.#chain, position === first ? entry : undefined);
      const oid = hashObject(object.type, object.data);
      oids[position] = oid;
      this.#onObject(oid, object);
      this.#offsets.set(oid, offset);
      this.#unnamed.delete(offset);
      if (this.#waiting.size === 0) continue;
      for (const base of [oid, offset]) {
        ready.push(...(this.#waiting.get(base) ?? []));
        this.#waiting.delete(base);
      }
      if (performance.now() > this.#sliceEnd) await this.#breathe();
    }
  }

  async #breathe(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}

/** Reads ahead, for the mostly forward reading of an indexer. Not for two readers at once. */
function windowOf(file: FileHandle, end: number): ByteSource {
  let window: Buffer = Buffer.alloc(0);
  let start = 0;
  return async (offset, length) => {
    const want = Math.min(length, end - offset);
    if (want <= 0) return Buffer.alloc(0);
    if (offset >= start && offset + want <= start + window.length) return window.subarray(offset - start);
    const ahead = offset >= start;
    const size = Math.min(ahead ? Math.max(want, WINDOW) : want, end - offset);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(size), 0, size, offset);
    const read = buffer.subarray(0, bytesRead);
    // A look back at a base does not throw away what was read ahead.
    if (!ahead) return read;
    window = read;
    start = offset;
    return window;
  };
}
