import { promisify } from 'node:util';
import { crc32, type InputType, inflateRaw, type ZlibOptions } from 'node:zlib';
import { quoted } from './archive-path.ts';
import type { Budget } from './budget.ts';
import { broken, refused } from './errors.ts';
import type { ArchiveEntry } from './tar-read.ts';

interface Entry {
  path: string;
  flags: number;
  method: number;
  sum: number;
  packed: number;
  size: number;
  /** Of its own header. */
  at: number;
  /** As Unix has it; 0 where whoever packed it knew none. */
  mode: number;
  rawName: Buffer;
}

const [END, CENTRAL, LOCAL, ZIP64_END] = [0x06054b50, 0x02014b50, 0x04034b50, 0x07064b50];
const [END_BYTES, CENTRAL_BYTES, LOCAL_BYTES, LONGEST_COMMENT] = [22, 46, 30, 0xffff];
const ZIP64_EXTRA = 1;
const ENCRYPTED = 0x2041;
const DESCRIPTOR = 0x8;
const UTF8 = 0x800;
/** Hints for who packs and unpacks; whatever else a flag may say changes what the bytes mean. */
const KNOWN_FLAGS = 0x6 | DESCRIPTOR | UTF8;
const NAME = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const [STORED, DEFLATED] = [0, 8];
const [KIND, REGULAR, FOLDER, LINK] = [0o170000, 0o100000, 0o040000, 0o120000];

const inflate: (bytes: InputType, options: ZlibOptions) => Promise<Buffer> = promisify(inflateRaw);

/**
 * The files of a zip, one at a time. Strict on purpose: both lists of what is in it must agree, and its parts must lie one
 * behind the other with nothing between, before or after, so that no byte counts twice. Nothing is inflated beyond what it
 * says, nor before that is paid for. Links are listed.
 */
export async function* readZip(bytes: Buffer, budget: Budget): AsyncGenerator<ArchiveEntry> {
  const { entries, ends } = readLists(bytes, budget);
  for (const [index, entry] of entries.entries()) {
    const data = contentOf(bytes, entry, ends[index] ?? 0);
    const type = typeOf(entry);
    if (type !== 'file') {
      yield { path: entry.path, type, data: undefined };
      continue;
    }
    budget.countBytes(entry.size);
    const content = entry.method === STORED ? data : await inflateEntry(entry, data);
    if (content.length !== entry.size || crc32(content) !== entry.sum)
      throw broken(`the content of ${quoted(entry.path)} is not what it should be`);
    yield { path: entry.path, type, data: content };
  }
}

async function inflateEntry({ path, size }: Entry, data: Buffer): Promise<Buffer> {
  try {
    return await inflate(data, { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw broken(`the content of ${quoted(path)} can't be decompressed, or is more than it says`);
  }
}

/** What is in it, in the order in which it lies there, and where each ends. */
function readLists(bytes: Buffer, budget: Budget): { entries: Entry[]; ends: number[] } {
  const end = findEnd(bytes);
  const [disk, listDisk, here, count] = [4, 6, 8, 10].map((at) => bytes.readUInt16LE(end + at));
  const [listBytes = 0, list = 0] = [12, 16].map((at) => bytes.readUInt32LE(end + at));
  const isLarge = end >= 20 && bytes.readUInt32LE(end - 20) === ZIP64_END;
  if (isLarge || count === 0xffff || listBytes === 0xffffffff || list === 0xffffffff) throw zip64();
  if (disk !== 0 || listDisk !== 0 || here !== count) throw broken('it is one of several parts');
  if (list + listBytes !== end) throw broken('its list does not lie where it should');
  const entries: Entry[] = [];
  let at = list;
  while (at < end) {
    budget.countFile();
    const { entry, next } = readCentral(bytes, at, end);
    entries.push(entry);
    at = next;
  }
  if (entries.length !== count) throw broken('its list is not as long as it says');
  entries.sort((a, b) => a.at - b.at);
  if ((entries[0]?.at ?? list) !== 0) throw broken('something lies before its first file');
  return { entries, ends: entries.map((_, index) => entries[index + 1]?.at ?? list) };
}

function findEnd(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= lowest; at -= 1) {
    if (bytes.readUInt32LE(at) === END && at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return at;
  }
  throw broken('it ends without an end');
}

function readCentral(bytes: Buffer, at: number, end: number): { entry: Entry; next: number } {
  if (at + CENTRAL_BYTES > end || bytes.readUInt32LE(at) !== CENTRAL) throw broken('its list is damaged');
  const [flags = 0, method = 0] = [8, 10].map((of) => bytes.readUInt16LE(at + of));
  const [sum = 0, packed = 0, size = 0] = [16, 20, 24].map((of) => bytes.readUInt32LE(at + of));
  const [nameBytes = 0, extraBytes = 0, noteBytes = 0] = [28, 30, 32].map((of) => bytes.readUInt16LE(at + of));
  const [name, extra] = [at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes];
  const next = extra + extraBytes + noteBytes;
  if (next > end) throw broken('its list is damaged');
  const start = bytes.readUInt32LE(at + 42);
  if ([packed, size, start].includes(0xffffffff) || hasZip64(bytes.subarray(extra, extra + extraBytes))) throw zip64();
  const rawName = bytes.subarray(name, extra);
  const path = nameOf(rawName);
  if ((flags & ENCRYPTED) !== 0) {
    throw refused(`The archive holds ${quoted(path)} encrypted, and nobody here has its key; pack it without.`, {
      path,
    });
  }
  if ((flags & ~KNOWN_FLAGS) !== 0 || (method !== STORED && method !== DEFLATED)) {
    throw refused(`The archive holds ${quoted(path)} packed in an unusual way; pack it as zip does by default.`, {
      path,
    });
  }
  if (method === STORED && packed !== size) throw broken(`${quoted(path)} has two sizes`);
  const mode = bytes.readUInt32LE(at + 38) >>> 16;
  return { entry: { path, flags, method, sum, packed, size, at: start, mode, rawName }, next };
}

/** The bytes of an entry, whose own header must say what the list says. `end`: where the next one begins. */
function contentOf(bytes: Buffer, entry: Entry, end: number): Buffer {
  const { at, flags, packed } = entry;
  const differs = broken(`${quoted(entry.path)} lies there otherwise than the list says`);
  if (at + LOCAL_BYTES > end || bytes.readUInt32LE(at) !== LOCAL) throw differs;
  const [localFlags, method, nameBytes = 0, extraBytes = 0] = [6, 8, 26, 28].map((of) => bytes.readUInt16LE(at + of));
  const name = at + LOCAL_BYTES;
  const start = name + nameBytes + extraBytes;
  if (start + packed > end || localFlags !== flags || method !== entry.method) throw differs;
  if (!bytes.subarray(name, name + nameBytes).equals(entry.rawName)) throw differs;
  if (hasZip64(bytes.subarray(name + nameBytes, start))) throw zip64();
  const isLater = (flags & DESCRIPTOR) !== 0;
  const said = [14, 18, 22].map((of) => bytes.readUInt32LE(at + of));
  if (!isLater && ![entry.sum, packed, entry.size].every((value, index) => value === said[index])) throw differs;
  // Sum and sizes once more, with or without a mark before them.
  const behind = end - start - packed;
  if (isLater ? behind !== 12 && behind !== 16 : behind !== 0) throw broken('something lies between its files');
  return bytes.subarray(start, start + packed);
}

function typeOf({ path, mode, size }: Entry): ArchiveEntry['type'] {
  const kind = mode & KIND;
  const isFolder = path.endsWith('/');
  if (isFolder && size !== 0) throw broken('a folder in it has content');
  if (kind === LINK) return 'link';
  if (kind !== 0 && kind !== (isFolder ? FOLDER : REGULAR))
    throw refused(`The archive holds ${quoted(path)}, which is neither a file nor a folder.`, { path });
  return isFolder ? 'folder' : 'file';
}

/** Whatever the flag says: programs on Unix write UTF-8 without it, and anything else is a guess. */
function nameOf(raw: Buffer): string {
  try {
    return NAME.decode(raw);
  } catch {
    throw refused(`The archive names ${quoted(raw.toString('latin1'))} in letters that are no UTF-8; rename it.`);
  }
}

function hasZip64(extra: Buffer): boolean {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === ZIP64_EXTRA) return true;
  }
  return false;
}

function zip64(): Error {
  return refused(
    'The archive is a zip64, which is for more than 4 GiB; pack it again as an ordinary zip or as a .tgz.',
  );
}
