import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { ByteCache } from './bytecache.ts';
import { readWhole } from './deltachain.ts';
import type { GitObject } from './objects.ts';
import { PackIndex } from './packindex.ts';

/** Objects of all packs by pack number and offset, in one number. */
const PACK_STRIDE = 2 ** 33;
/** Objects of one commit lie side by side, and most are small: so many bytes are read together. */
const WINDOW_BYTES = 64 * 1024;
const WINDOW_STEP = 4 * 1024;

/** One pack on disk with its index. It stays readable until the last read ends, even when its file is deleted meanwhile. */
export class PackFile {
  readonly name: string;
  readonly #index: PackIndex;
  readonly #file: FileHandle;
  readonly #number: number;
  /** What was read last, until there is a turn in which nobody reads: what becomes of the file shall show. */
  #window: { start: number; bytes: Promise<Buffer> } | undefined;
  #isClosing = false;
  #reads = 0;
  #retired = false;

  private constructor(name: string, number: number, index: PackIndex, file: FileHandle) {
    this.name = name;
    this.#number = number;
    this.#index = index;
    this.#file = file;
  }

  static async open(folder: string, name: string, number: number): Promise<PackFile> {
    const index = new PackIndex(await readFile(`${folder}/${name}.idx`));
    return new PackFile(name, number, index, await open(`${folder}/${name}.pack`, 'r'));
  }

  find(oid: string): number | undefined {
    return this.#index.find(oid);
  }

  /** True once it is closed to new readers; who found it before must look again. */
  get retired(): boolean {
    return this.#retired;
  }

  async read(offset: number, maxObjectBytes: number, cache: ByteCache<number, GitObject>): Promise<GitObject> {
    this.#reads += 1;
    try {
      const first = this.#number * PACK_STRIDE;
      return await readWhole(offset, {
        source: (at, length) => this.#bytes(at, length),
        maxObjectBytes,
        cache: {
          get: (at) => cache.get(first + at),
          set: (at, object, bytes) => cache.set(first + at, object, bytes),
        },
        find: (oid) => this.find(oid),
      });
    } finally {
      this.#reads -= 1;
      if (this.#reads === 0) this.#closeSoon();
      if (this.#retired && this.#reads === 0) await this.#file.close();
    }
  }

  /** Closes the file once nobody reads from it. */
  async retire(): Promise<void> {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#reads === 0) await this.#file.close();
  }

  async #bytes(offset: number, length: number): Promise<Buffer> {
    if (length > WINDOW_BYTES - WINDOW_STEP) return await this.#readAt(offset, length);
    const known = this.#window;
    const isIn = known !== undefined && offset >= known.start && offset + length <= known.start + WINDOW_BYTES;
    const window = isIn ? known : this.#open(offset - (offset % WINDOW_STEP));
    const from = offset - window.start;
    return (await window.bytes).subarray(from, from + length);
  }

  #closeSoon(): void {
    if (this.#window === undefined || this.#isClosing) return;
    this.#isClosing = true;
    setImmediate(() => {
      this.#isClosing = false;
      if (this.#reads === 0) this.#window = undefined;
    });
  }

  #open(start: number): { start: number; bytes: Promise<Buffer> } {
    const window = { start, bytes: this.#readAt(start, WINDOW_BYTES) };
    this.#window = window;
    window.bytes.catch(() => {
      if (this.#window === window) this.#window = undefined;
    });
    return window;
  }

  async #readAt(offset: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  }
}
