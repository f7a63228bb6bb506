import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

export interface PackedFile {
  path: string;
  data: Uint8Array;
}

export interface StreamedFile {
  path: string;
  size: number;
  mode: number;
  content: AsyncIterable<Uint8Array>;
}

const BLOCK = 512;

/** Writes a .tgz that depends on nothing but the files: no times, owners or modes of this machine. */
export async function writeTgz(file: string, files: AsyncIterable<PackedFile>): Promise<void> {
  await pipeline(
    tarOf(streamed(files)),
    createGzip({ level: 6 }),
    createWriteStream(file, { flags: 'wx', mode: 0o600 }),
  );
}

/** A tar of files that may be too large for memory; their sizes must be true. */
export async function* tarOf(files: AsyncIterable<StreamedFile>): AsyncGenerator<Uint8Array> {
  for await (const { path, size, mode, content } of files) {
    const name = Buffer.from(path);
    const records = [
      ...(name.length > 100 ? [paxRecord('path', path)] : []),
      ...(size >= 8 ** 11 ? [paxRecord('size', String(size))] : []),
    ];
    if (records.length > 0) {
      const record = Buffer.concat(records);
      yield tarHeader('././@PaxHeader', record.length, 'x');
      yield padded(record);
    }
    yield tarHeader(name.subarray(0, 100).toString('latin1'), size < 8 ** 11 ? size : 0, '0', mode);
    yield* content;
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

async function* streamed(files: AsyncIterable<PackedFile>): AsyncGenerator<StreamedFile> {
  for await (const { path, data } of files) yield { path, size: data.length, mode: 0o644, content: once(data) };
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

/** A header of ustar that depends on nothing but these. Sizes beyond 8 GB are written as GNU tar does. */
export function tarHeader(name: string, size: number, flag: string, mode = 0o644): Buffer {
  const block = Buffer.alloc(BLOCK);
  const number = (value: number, at: number, length: number): void => {
    block.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  };
  block.write(name, 0, 100, 'latin1');
  number(mode, 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  if (size < 8 ** 11) number(size, 124, 12);
  else {
    block[124] = 0x80;
    block.writeBigUInt64BE(BigInt(size), 128);
  }
  number(0, 136, 12);
  block.fill(' ', 148, 156);
  block.write(flag, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function padded(data: Uint8Array): Buffer {
  return Buffer.concat([data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)]);
}

/** The length that a record begins with counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length !== String(rest).length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}
