import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { tarHeader } from '../charts/tar-write.ts';
import { invalid, type LayoutFiles } from './layout.ts';

const BLOCK = 512;
const MAX_FILES = 1_000_000;
const MAX_SMALL = 64 * 1024 * 1024;

interface Member {
  at: number;
  size: number;
}

/** Opens a layout in a tar: its headers are read once, and each file where it stands. Nothing is unpacked. */
export async function tarFiles(file: string): Promise<LayoutFiles> {
  const handle = await open(file);
  try {
    const members = await membersOf(handle, file);
    return {
      title: file,
      async read(path) {
        const member = members.get(path);
        if (member === undefined) return undefined;
        if (member.size > MAX_SMALL) throw invalid(file, `has ${path} with ${member.size} bytes`);
        const bytes = Buffer.alloc(member.size);
        await handle.read(bytes, 0, member.size, member.at);
        return bytes;
      },
      stream(path) {
        const member = members.get(path);
        if (member === undefined) return undefined;
        const { at, size } = member;
        return size === 0 ? nothing() : createReadStream(file, { start: at, end: at + size - 1 });
      },
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function membersOf(handle: FileHandle, file: string): Promise<Map<string, Member>> {
  const { size: whole } = await handle.stat();
  const members = new Map<string, Member>();
  const header = Buffer.alloc(BLOCK);
  for (let at = 0; at + BLOCK <= whole; ) {
    await handle.read(header, 0, BLOCK, at);
    if (header.every((byte) => byte === 0)) return members;
    if (header[0] === 0x1f && header[1] === 0x8b) throw invalid(file, 'is compressed: unpack it with gunzip first');
    if (!isHeader(header)) throw invalid(file, `is no tar, or damaged at byte ${at}`);
    const size = sizeIn(header);
    if (at + BLOCK + size > whole) throw invalid(file, 'is cut off: its last file is not whole');
    const flag = String.fromCharCode(header[156] ?? 0);
    if (flag === '0' || flag === '\0') members.set(nameIn(header), { at: at + BLOCK, size });
    if (members.size > MAX_FILES) throw invalid(file, `has more than ${MAX_FILES} files`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw invalid(file, 'is cut off: a tar ends with empty blocks');
}

function isHeader(header: Buffer): boolean {
  const said = Number.parseInt(
    header
      .toString('latin1', 148, 156)
      .replace(/[\0 ].*$/, '')
      .trim() || '0',
    8,
  );
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  return said === sum;
}

function nameIn(header: Buffer): string {
  const text = (from: number, to: number) => header.toString('utf8', from, to).replace(/\0.*$/s, '');
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? text(345, 500) : '';
  return `${prefix === '' ? '' : `${prefix}/`}${text(0, 100)}`.replace(/^\.\//, '');
}

/** Octal, or beyond 8 GB the number itself. */
function sizeIn(header: Buffer): number {
  if (((header[124] ?? 0) & 0x80) === 0) return Number.parseInt(header.toString('latin1', 124, 136), 8) || 0;
  return Number(header.readBigUInt64BE(128));
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Packs a layout folder. The same folder gives the same bytes, and the file is there whole or not at all. */
export async function packTar(folder: string, file: string): Promise<void> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  await pipeline(packed(folder), createWriteStream(part, { flags: 'wx' }));
  await rename(part, file);
}

async function* packed(folder: string): AsyncGenerator<Uint8Array> {
  const blobs = (await readdir(join(folder, 'blobs', 'sha256'))).toSorted();
  for (const path of ['oci-layout', 'index.json', ...blobs.map((name) => `blobs/sha256/${name}`)]) {
    const { size } = await stat(join(folder, path));
    yield tarHeader(path, size, '0');
    for await (const part of createReadStream(join(folder, path))) yield part as Buffer;
    yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Puts the files of a tar of ours back into a folder, to add to them. */
export async function unpackTar(file: string, folder: string): Promise<void> {
  const handle = await open(file);
  try {
    for (const [path, { at, size }] of await membersOf(handle, file)) {
      if (!/^(?:oci-layout|index\.json|blobs\/sha256\/[0-9a-f]{64})$/.test(path)) continue;
      await mkdir(dirname(join(folder, path)), { recursive: true });
      const parts = size === 0 ? nothing() : createReadStream(file, { start: at, end: at + size - 1 });
      await pipeline(parts, createWriteStream(join(folder, path)));
    }
  } finally {
    await handle.close();
  }
}
