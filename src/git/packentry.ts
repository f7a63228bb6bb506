import { promisify } from 'node:util';
import { inflate, inflateSync } from 'node:zlib';
import { EspalierError } from '../api/index.ts';
import { describeBytes } from './limits.ts';
import { damaged, type ObjectType } from './objects.ts';

/** Reads bytes of a pack at an offset: at least as many as asked for, fewer only where the pack ends. */
export type ByteSource = (offset: number, length: number) => Promise<Buffer>;

export interface PackEntry {
  /** A whole object, or a delta on another entry: by its offset or by its object id. */
  type: ObjectType | 'delta';
  base: number | string | undefined;
  data: Buffer;
  /** Offset of the byte after it. */
  end: number;
}

const TYPES: Record<number, ObjectType> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const FIRST_READ = 4096;
/** Larger ones are inflated off the main thread. */
const SYNC_BYTES = 256 * 1024;

interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}
const inflateAsync = promisify(inflate) as unknown as (input: Buffer, options: object) => Promise<Inflated>;
const inflateNow = inflateSync as unknown as (input: Buffer, options: object) => Inflated;

/** Reads one entry. Its stated size is held to `maxBytes` before anything is inflated, and inflating stops at that size. */
export async function readEntry(source: ByteSource, offset: number, maxBytes: number): Promise<PackEntry> {
  let bytes = await source(offset, FIRST_READ);
  const head = parseHead(bytes, offset);
  if (head.size > maxBytes) throw tooLarge(head.size, maxBytes);
  // What deflate makes of incompressible data, with room for wasteful encoders; more is asked for when that is not enough.
  let want = head.length + head.size + (head.size >> 8) + 64;
  if (head.size > FIRST_READ && bytes.length < want) bytes = await source(offset, want);
  for (;;) {
    const inflated = await inflateExactly(bytes.subarray(head.length), head.size);
    if (inflated !== undefined) return { ...head, data: inflated.data, end: offset + head.length + inflated.consumed };
    const had = bytes.length;
    want = Math.max(want, had * 2);
    bytes = await source(offset, want);
    if (bytes.length <= had) throw damaged('an object that ends too early');
  }
}

interface Head {
  type: PackEntry['type'];
  base: PackEntry['base'];
  size: number;
  length: number;
}

function parseHead(bytes: Buffer, offset: number): Head {
  let at = 0;
  const next = (): number => {
    const byte = bytes[at++];
    if (byte === undefined) throw damaged('a pack that ends too early');
    return byte;
  };
  let byte = next();
  const code = (byte >> 4) & 7;
  let size = byte & 15;
  for (let scale = 16; (byte & 0x80) !== 0; scale *= 128) {
    if (scale > 2 ** 46) throw damaged('an object without a size');
    byte = next();
    size += (byte & 0x7f) * scale;
  }
  const type = TYPES[code];
  if (type !== undefined) return { type, base: undefined, size, length: at };
  if (code === 7 && bytes.length >= at + 20)
    return { type: 'delta', base: bytes.toString('hex', at, at + 20), size, length: at + 20 };
  if (code !== 6) throw damaged(`an object of unknown type ${code}`);
  byte = next();
  let back = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = next();
    back = (back + 1) * 128 + (byte & 0x7f);
  }
  if (back <= 0 || back > offset - 12) throw damaged('a delta that leads outside its pack');
  return { type: 'delta', base: offset - back, size, length: at };
}

/** Undefined when the input ends before the object does. */
async function inflateExactly(input: Buffer, size: number): Promise<{ data: Buffer; consumed: number } | undefined> {
  const options = {
    info: true,
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.max(64, Math.min(size + 1, 1 << 20)),
  };
  try {
    const { buffer, engine } = size > SYNC_BYTES ? await inflateAsync(input, options) : inflateNow(input, options);
    if (buffer.length !== size) throw damaged('an object shorter than it says');
    return { data: buffer, consumed: engine.bytesWritten };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR') return undefined;
    throw error instanceof EspalierError ? error : damaged('an object that does not inflate', error);
  }
}

export function tooLarge(size: number, maxBytes: number): EspalierError {
  return new EspalierError(
    'GitTooLarge',
    `The repository holds an object of ${describeBytes(size)}, more than the ${describeBytes(maxBytes)} allowed; keep large files elsewhere or raise the limit.`,
    { data: { size, maxBytes } },
  );
}
