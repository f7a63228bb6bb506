import { crc32 } from 'node:zlib';

const LARGEST = 0xffff;
/** Magic, deflate, no flags, no time, no hints, system unknown. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/**
 * A gzip that compresses nothing: charts and images are compressed already, and what a compressor writes differs between
 * versions and processors. Its bytes depend on nothing but the content, not even on how that is cut.
 */
export async function* storedGzip(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield HEADER;
  let sum = 0;
  let size = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of content) {
    sum = crc32(part, sum);
    size += part.length;
    rest = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part]);
    let at = 0;
    for (; rest.length - at >= LARGEST; at += LARGEST) {
      yield blockHeader(LARGEST, false);
      yield rest.subarray(at, at + LARGEST);
    }
    rest = rest.subarray(at);
  }
  yield blockHeader(rest.length, true);
  yield rest;
  const end = Buffer.alloc(8);
  end.writeUInt32LE(sum, 0);
  end.writeUInt32LE(size % 2 ** 32, 4);
  yield end;
}

function blockHeader(length: number, last: boolean): Buffer {
  const header = Buffer.alloc(5);
  header[0] = last ? 1 : 0;
  header.writeUInt16LE(length, 1);
  header.writeUInt16LE(LARGEST - length, 3);
  return header;
}
