import { damaged } from './objects.ts';

/**
 * The object that a Git delta makes of its base. The result's size is read first and held to `maxBytes`, so that a small
 * delta which copies its base a million times costs nothing.
 */
export function applyDelta(base: Buffer, delta: Buffer, maxBytes: number): Buffer {
  const cursor = { at: 0 };
  const baseSize = readSize(delta, cursor);
  const size = readSize(delta, cursor);
  if (baseSize !== base.length || size > maxBytes) throw damaged('a delta of a wrong size');
  const result = Buffer.allocUnsafe(size);
  let written = 0;
  while (cursor.at < delta.length) {
    const op = delta[cursor.at++] ?? 0;
    if (op === 0) throw damaged('a delta with an unknown instruction');
    const [source, start, length] = (op & 0x80) === 0 ? [delta, cursor.at, op] : [base, ...readCopy(delta, cursor, op)];
    if (start + length > source.length || written + length > size) throw damaged('a delta that leads outside');
    source.copy(result, written, start, start + length);
    written += length;
    if (source === delta) cursor.at += length;
  }
  if (written !== size) throw damaged('a delta that ends too early');
  return result;
}

function readSize(delta: Buffer, cursor: { at: number }): number {
  let size = 0;
  let scale = 1;
  for (;;) {
    const byte = delta[cursor.at++];
    if (byte === undefined || scale > 2 ** 42) throw damaged('a delta without a size');
    size += (byte & 0x7f) * scale;
    if ((byte & 0x80) === 0) return size;
    scale *= 128;
  }
}

function readCopy(delta: Buffer, cursor: { at: number }, op: number): [start: number, length: number] {
  const read = (bits: number, from: number): number => {
    let value = 0;
    for (let i = 0; i < bits; i += 1) {
      if ((op & (1 << (from + i))) !== 0) value += (delta[cursor.at++] ?? 0) * 256 ** i;
    }
    return value;
  };
  const start = read(4, 0);
  const length = read(3, 4);
  return [start, length === 0 ? 0x10000 : length];
}
