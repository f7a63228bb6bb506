import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { EspalierError } from '../api/index.ts';
import type { ReceivedPack } from './indexpack.ts';
import { describeBytes, type GitLimits } from './limits.ts';

const TRAILER = 20;
const HEADER = 12;

/** Takes a pack as it arrives: to disk, counted and hashed on the way. What is too large is given up while it streams. */
export class PackSink {
  readonly #path: string;
  readonly #limits: GitLimits;
  readonly #hash = createHash('sha1');
  #file: FileHandle | undefined;
  #bytes = 0;
  #header: Buffer = Buffer.alloc(0);
  #held: Buffer = Buffer.alloc(0);

  constructor(path: string, limits: GitLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(chunk: Buffer): Promise<void> {
    this.#file ??= await open(this.#path, 'wx', 0o600);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.packBytes)
      throw this.#tooLarge(`more than ${describeBytes(this.#limits.packBytes)}`);
    if (this.#header.length < HEADER) {
      this.#header = Buffer.concat([this.#header, chunk]).subarray(0, HEADER);
      if (this.#header.length === HEADER && this.#count() > this.#limits.objects) {
        throw this.#tooLarge(`${this.#count()} objects, more than ${this.#limits.objects}`);
      }
    }
    // The last 20 bytes are the checksum of all before; which ones are the last is known at the end.
    const known = Buffer.concat([this.#held, chunk]);
    const body = Math.max(0, known.length - TRAILER);
    this.#hash.update(known.subarray(0, body));
    this.#held = known.subarray(body);
    await this.#file.writeFile(chunk);
  }

  /** The finished pack, safe on disk; undefined when the server had nothing new. */
  async finish(): Promise<ReceivedPack | undefined> {
    if (this.#file === undefined) return undefined;
    await this.#file.sync();
    await this.#close();
    const checksum = this.#hash.digest('hex');
    const whole = this.#bytes >= HEADER + TRAILER && this.#held.toString('hex') === checksum;
    if (!whole || this.#header.toString('latin1', 0, 4) !== 'PACK' || this.#header.readUInt32BE(4) !== 2) {
      throw new EspalierError(
        'GitProtocolError',
        'The pack arrived incomplete or damaged; trying again fetches it anew.',
      );
    }
    if (this.#count() > 0) return { path: this.#path, bytes: this.#bytes, objects: this.#count(), checksum };
    await rm(this.#path, { force: true });
    return undefined;
  }

  /** Leaves nothing behind. Safe to call after `finish`, whose file it removes. */
  async drop(): Promise<void> {
    await this.#close();
    await rm(this.#path, { force: true });
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #count(): number {
    return this.#header.readUInt32BE(8);
  }

  #tooLarge(why: string): EspalierError {
    return new EspalierError('GitTooLarge', `The repository sends ${why}; raise the limit or point at a smaller one.`);
  }
}
