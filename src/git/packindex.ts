import { createHash } from 'node:crypto';
import { damaged } from './objects.ts';

/** What a pack holds, as parallel columns in pack order. */
export interface PackContents {
  oids: string[];
  offsets: number[];
  crcs: number[];
  /** SHA-1 of the pack, its last 20 bytes. */
  checksum: string;
}

const MAGIC = 0xff744f63;
const FANOUT = 8;
const NAMES = FANOUT + 256 * 4;

/** A pack index (version 2), searched in place: 28 bytes an object and no strings. */
export class PackIndex {
  readonly #bytes: Buffer;
  readonly count: number;

  constructor(bytes: Buffer) {
    if (bytes.length < NAMES + 40 || bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt32BE(4) !== 2) {
      throw damaged('a pack index of an unknown form');
    }
    this.#bytes = bytes;
    this.count = bytes.readUInt32BE(FANOUT + 255 * 4);
    if (bytes.length < NAMES + this.count * 28 + 40) throw damaged('a pack index that ends too early');
  }

  /** Offset of an object in the pack; undefined when the pack does not hold it. */
  find(oid: string): number | undefined {
    const wanted = Buffer.from(oid, 'hex');
    if (wanted.length !== 20) return undefined;
    const first = wanted[0] ?? 0;
    let low = first === 0 ? 0 : this.#bytes.readUInt32BE(FANOUT + (first - 1) * 4);
    let high = this.#bytes.readUInt32BE(FANOUT + first * 4);
    if (high > this.count) throw damaged('a pack index that contradicts itself');
    while (low < high) {
      const middle = (low + high) >> 1;
      const at = NAMES + middle * 20;
      const order = this.#bytes.compare(wanted, 0, 20, at, at + 20);
      if (order === 0) return this.#offset(middle);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  #offset(position: number): number {
    const offsets = NAMES + this.count * 24;
    const offset = this.#bytes.readUInt32BE(offsets + position * 4);
    if (offset < 0x80000000) return offset;
    const large = offsets + this.count * 4 + (offset - 0x80000000) * 8;
    if (large + 8 > this.#bytes.length) throw damaged('a pack index that contradicts itself');
    return Number(this.#bytes.readBigUInt64BE(large));
  }
}

/** The index file of a pack smaller than 2 GiB, as `git index-pack` writes it. */
export function writeIndex(contents: PackContents): Buffer {
  const { oids, offsets, crcs } = contents;
  const count = oids.length;
  const order = oids.map((_, i) => i).sort((a, b) => ((oids[a] ?? '') < (oids[b] ?? '') ? -1 : 1));
  const bytes = Buffer.alloc(NAMES + count * 28 + 40);
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUInt32BE(2, 4);
  const fanout = new Array<number>(256).fill(0);
  for (const [position, i] of order.entries()) {
    const oid = oids[i] ?? '';
    bytes.write(oid, NAMES + position * 20, 'hex');
    bytes.writeUInt32BE(crcs[i] ?? 0, NAMES + count * 20 + position * 4);
    bytes.writeUInt32BE(offsets[i] ?? 0, NAMES + count * 24 + position * 4);
    const first = Number.parseInt(oid.slice(0, 2), 16);
    fanout[first] = (fanout[first] ?? 0) + 1;
  }
  let sum = 0;
  for (const [byte, found] of fanout.entries()) {
    sum += found;
    bytes.writeUInt32BE(sum, FANOUT + byte * 4);
  }
  bytes.write(contents.checksum, bytes.length - 40, 'hex');
  createHash('sha1')
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20);
  return bytes;
}
