import { gzipSync } from 'node:zlib';

/** One entry of an archive. A link may point anywhere: what reads the archive is what must refuse it. */
export type TarEntry =
  | { path: string; content: string | Uint8Array; executable?: boolean }
  | { path: string; link: string; hard?: boolean };

const BLOCK = 512;

/** A gzipped tar archive; the same entries always give the same bytes. */
export function tarball(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = 'link' in entry ? Buffer.alloc(0) : Buffer.from(entry.content);
    return [headerOf(entry, content.length), content, fillingOf(content.length)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]));
}

/** What comes behind so many bytes, up to the next header. */
export function fillingOf(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export function headerOf(entry: TarEntry, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = splitPath(entry.path);
  header.write(name, 0, 100);
  const isLink = 'link' in entry;
  header.write(octal(!isLink && entry.executable === true ? 0o755 : 0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(' '.repeat(8), 148); // the checksum counts itself as spaces
  header.write(isLink ? (entry.hard === true ? '1' : '2') : '0', 156);
  if (isLink) header.write(entry.link, 157, 100);
  header.write('ustar\u000000', 257);
  header.write(prefix, 345, 155);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return header;
}

/** Names beyond 100 bytes are kept in two fields, parted at a slash. */
function splitPath(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  const at = path.indexOf('/', Buffer.byteLength(path) - 101);
  if (at < 0 || at > 155) throw new Error(`a tar archive can't hold the name ${path}`);
  return [path.slice(0, at), path.slice(at + 1)];
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\u0000`;
}
