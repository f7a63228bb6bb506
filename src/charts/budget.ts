import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EspalierError } from '../api/index.ts';
import { describeBytes } from '../git/limits.ts';
import { broken, refused } from './errors.ts';
import type { ChartLimits } from './limits.ts';

/** What an archive, and all archives in it, may still cost. */
export class Budget {
  readonly limits: ChartLimits;
  readonly #packed: number;
  #files = 0;
  #unpacked = 0;

  /** `packed`: bytes of the archive. */
  constructor(packed: number, limits: ChartLimits) {
    this.#packed = packed;
    this.limits = limits;
  }

  countFile(where = ''): void {
    this.#files += 1;
    if (this.#files > this.limits.files)
      throw refused(`The archive holds more than ${this.limits.files} files and folders${where}.`);
  }

  countBytes(bytes: number, where = ''): void {
    const { unpackedBytes, ratio } = this.limits;
    this.#unpacked += bytes;
    if (this.#unpacked > unpackedBytes)
      throw refused(`The archive has more than ${describeBytes(unpackedBytes)} unpacked${where}.`);
    if (this.#unpacked > MiB && this.#unpacked > this.#packed * ratio) {
      throw refused(
        `The archive's content is more than ${ratio} times as large unpacked${where}: no chart or manifest is, an attack may be.`,
      );
    }
  }
}

const MiB = 1024 * 1024;

/** Inflates and counts; a bomb ends here after its first megabyte. */
export async function* inflated(source: Readable, budget: Budget, where = ''): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    for await (const chunk of gunzip) {
      const part: Uint8Array = chunk;
      budget.countBytes(part.length, where);
      yield part;
    }
  } catch (error) {
    if (error instanceof EspalierError) throw error;
    throw broken(`it can't be decompressed${where}`);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}
