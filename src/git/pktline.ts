import { EspalierError } from '../api/index.ts';

/** One line of Git's protocol; `data` is absent for the markers (flush, delimiter, response end). */
export interface Packet {
  marker: 'flush' | 'delimiter' | 'end' | undefined;
  data: Buffer;
  /** As it came, length and all. */
  raw: Buffer;
}

const MARKERS = ['flush', 'delimiter', 'end'] as const;

/** Cuts a byte stream into packets. A stream that ends inside one, or is no such stream at all, is an error and never a short list. */
export async function* readPackets(source: AsyncIterable<Uint8Array>): AsyncGenerator<Packet> {
  let pending: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    pending =
      pending.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([pending, chunk]);
    let at = 0;
    while (pending.length - at >= 4) {
      const length = lengthOf(pending, at);
      if (length < 4) {
        yield { marker: MARKERS[length], data: Buffer.alloc(0), raw: pending.subarray(at, at + 4) };
        at += 4;
        continue;
      }
      if (pending.length - at < length) break;
      yield { marker: undefined, data: pending.subarray(at + 4, at + length), raw: pending.subarray(at, at + length) };
      at += length;
    }
    pending = pending.subarray(at);
  }
  if (pending.length > 0)
    throw new EspalierError('GitProtocolError', "The server's answer ended in the middle; trying again may help.");
}

function lengthOf(bytes: Buffer, at: number): number {
  const digits = bytes.toString('latin1', at, at + 4);
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (length < 0 || length === 3 || length > 65520) {
    throw new EspalierError('GitProtocolError', "The server's answer is not Git's protocol; check the URL.");
  }
  return length;
}

/** One line of ours. */
export function packetLine(text: string): Buffer {
  const data = Buffer.from(text);
  return Buffer.concat([Buffer.from((data.length + 4).toString(16).padStart(4, '0')), data]);
}

/** What a server says when it refuses inside the protocol; undefined for any other line. */
export function refusalIn(packet: Packet): string | undefined {
  return packet.data.subarray(0, 4).toString('latin1') === 'ERR ' ? packet.data.toString('utf8', 4).trim() : undefined;
}

/** Bytes that are all there, as a stream. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
