import { quoted } from './archive-path.ts';
import { broken, refused } from './errors.ts';

export interface ArchiveEntry {
  path: string;
  type: 'file' | 'folder' | 'link';
  /** Only of files that were asked for. */
  data: Buffer | undefined;
}

const BLOCK = 512;
const LONGEST_META = 64 * 1024;
const FILE = new Set(['0', '\0']);
const LINKS = new Set(['1', '2']);
const KINDS: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
  S: 'a sparse file',
};

/** A member as it passes by: its content is there until the next one is asked for. */
export interface TarMember {
  path: string;
  type: 'file' | 'folder' | 'link' | 'other';
  /** What it is, in words: `a symbolic link`. */
  kind: string;
  size: number;
  /** Where a link leads to, as it is written: from its own folder, and a hard link from the top. */
  target?: string;
  content(): AsyncGenerator<Uint8Array>;
}

/**
 * The files of a tar stream, one at a time; never more than one in memory. Strict on purpose: what another reader might take
 * differently (links, devices, sparse files, sizes in binary, wrong sums) is refused. What follows the end is read and dropped.
 * `listLinks`: for who never follows one.
 */
export async function* readTar(
  stream: AsyncIterable<Uint8Array>,
  {
    maxFileBytes,
    wants = () => true,
    listLinks = false,
  }: { maxFileBytes: number; wants?(path: string): boolean; listLinks?: boolean },
): AsyncGenerator<ArchiveEntry> {
  for await (const { path, type, kind, size, content } of tarMembers(stream)) {
    if (type === 'folder' || (type === 'link' && listLinks)) {
      if (size !== 0) throw broken(`a ${type} in it has content`);
      yield { path, type, data: undefined };
      continue;
    }
    if (type !== 'file') {
      throw refused(
        `The archive holds ${quoted(path)}, which is ${kind}; only regular files are allowed. Put the file itself there.`,
        { path },
      );
    }
    if (size > maxFileBytes) {
      throw refused(`The file ${quoted(path)} in the archive has ${size} bytes; ${maxFileBytes} are allowed at most.`, {
        path,
      });
    }
    if (!wants(path)) {
      for await (const _ of content());
      yield { path, type, data: undefined };
      continue;
    }
    const parts: Uint8Array[] = [];
    for await (const part of content()) parts.push(part);
    yield { path, type, data: Buffer.concat(parts) };
  }
}

/** Every member of a tar stream, whatever it is: for who streams large ones, or tells all that is wrong at once. */
export async function* tarMembers(stream: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const input = new Blocks(stream);
  let meta: { path?: string; size?: number } = {};
  for (;;) {
    const header = await input.take(BLOCK);
    if (header.length === 0) throw broken('it ends without an end');
    if (header.every((byte) => byte === 0)) break;
    checkSum(header);
    const flag = String.fromCharCode(header[156] ?? 0);
    const size = meta.size ?? octal(header, 124, 12);
    const path = meta.path ?? nameOf(header);
    if (flag === 'x' || flag === 'g' || flag === 'L') {
      const bytes = octal(header, 124, 12);
      if (bytes > LONGEST_META) throw broken('a name in it is too long');
      const text = await input.takePadded(bytes);
      if (flag === 'x') meta = { ...meta, ...parsePax(text) };
      if (flag === 'L') meta = { ...meta, path: untilNul(text) };
      continue;
    }
    meta = {};
    let left = size;
    const content = async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const part = await input.next(left);
        left -= part.length;
        yield part;
      }
    };
    const type = typeOf(flag, path);
    const target = type === 'link' ? { target: untilNul(header.subarray(157, 257)) } : {};
    yield { path, type, kind: KINDS[flag] ?? 'neither a file nor a folder', size, ...target, content };
    for await (const _ of content());
    await input.take((BLOCK - (size % BLOCK)) % BLOCK, false);
  }
  await input.drain();
}

function typeOf(flag: string, path: string): TarMember['type'] {
  if (flag === '5' || (FILE.has(flag) && path.endsWith('/'))) return 'folder';
  if (LINKS.has(flag)) return 'link';
  return FILE.has(flag) ? 'file' : 'other';
}

/** Bytes in the portions that are asked for. */
class Blocks {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#source = stream[Symbol.asyncIterator]();
  }

  /** Exactly that many; none at all at the end. */
  async take(bytes: number, keep = true): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let missing = bytes;
    while (missing > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) {
          if (missing === bytes) return Buffer.alloc(0);
          throw broken('it ends in the middle of a file');
        }
        this.#rest = next.value;
      }
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      if (keep) parts.push(part);
    }
    return Buffer.concat(parts);
  }

  /** What has come already, at most that many. */
  async next(most: number): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw broken('it ends in the middle of a file');
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  async takePadded(bytes: number): Promise<Buffer> {
    const data = await this.take(bytes);
    if (data.length !== bytes) throw broken('it ends in the middle of a file');
    await this.take((BLOCK - (bytes % BLOCK)) % BLOCK, false);
    return data;
  }

  async drain(): Promise<void> {
    while ((await this.#source.next()).done !== true);
  }
}

function checkSum(header: Buffer): void {
  let sum = 8 * 32;
  for (const [at, byte] of header.entries()) if (at < 148 || at >= 156) sum += byte;
  if (sum !== octal(header, 148, 8)) throw broken('a header in it has a wrong sum');
}

function octal(header: Buffer, start: number, length: number): number {
  const text = header
    .toString('latin1', start, start + length)
    .replace(/[\0 ]+$/, '')
    .trimStart();
  if (text === '') return 0;
  if (!/^[0-7]+$/.test(text)) throw broken('a header in it holds no number where one belongs');
  return Number.parseInt(text, 8);
}

function nameOf(header: Buffer): string {
  const name = untilNul(header.subarray(0, 100));
  if (header.toString('latin1', 257, 263) !== 'ustar\0') return name;
  const prefix = untilNul(header.subarray(345, 500));
  return prefix === '' ? name : `${prefix}/${name}`;
}

function untilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

/** `27 path=chart/templates/x.yaml\n`, one after another; the number counts the whole record. */
function parsePax(bytes: Buffer): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(32, at);
    const digits = blank < 0 ? '' : bytes.toString('latin1', at, blank);
    const end = at + Number(digits);
    if (!/^[1-9]\d{0,5}$/.test(digits) || end > bytes.length || bytes[end - 1] !== 10)
      throw broken('a record in it is wrong');
    const record = bytes.toString('utf8', blank + 1, end - 1);
    const key = record.slice(0, record.indexOf('='));
    const value = record.slice(key.length + 1);
    if (key === 'path') found.path = value;
    if (key === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw broken('a size in it is no number');
      found.size = Number(value);
    }
    if (key.startsWith('GNU.sparse')) throw broken('it holds a sparse file');
    at = end;
  }
  return found;
}

/** However a tar writes a path: `./charts/` is `charts`, and `.` is ''. */
export function memberPath(path: string): string {
  const plain = path.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
  return plain === '.' ? '' : plain;
}
