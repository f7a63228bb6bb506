import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { ByteCache } from './bytecache.ts';
import { readWhole } from './deltachain.ts';
import type { GitObject } from './objects.ts';
import { PackIndex } from './packindex.ts';

/** Objects of all packs by pack number and offset, in one number. */
const PACK_STRIDE = 2 ** 33;

/** One pack on disk with its index. It stays readable until the last read ends, even when its file is deleted meanwhile. */
export class PackFile {
  readonly name: string;
  readonly #index: PackIndex;
  readonly #file: FileHandle;
  readonly #number: number;
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
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(length), 0, length, offset);
    return buffer.subarray(0, bytesRead);
  }
}
