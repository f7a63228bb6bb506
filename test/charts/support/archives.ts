import { createHash } from 'node:crypto';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

export interface Member {
  path: string;
  data?: string | Uint8Array;
  /** As in a header of tar: `2` is a symbolic link. */
  flag?: string;
  link?: string;
}

/** A .tgz written down in a test, also one that no program would make. */
export function tgz(members: Member[]): Buffer {
  return gzipSync(Buffer.concat([...members.flatMap(blocks), Buffer.alloc(1024)]));
}

/** The smallest chart, with more files in its folder. */
export function chartTgz(name: string, version: string, files: Record<string, string | Uint8Array> = {}): Buffer {
  const all = { 'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\n`, ...files };
  return tgz(Object.entries(all).map(([path, data]) => ({ path: `${name}/${path}`, data })));
}

export function sha256(data: Uint8Array): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}

function blocks({ path, data = '', flag = '0', link = '' }: Member): Buffer[] {
  const content = Buffer.from(data);
  const header = Buffer.alloc(512);
  header.write(path, 0, 100);
  header.write('0000644\0', 100);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.fill(' ', 148, 156);
  header.write(flag, 156);
  header.write(link, 157, 100);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}

export interface ZipMember {
  path: string;
  data?: string | Uint8Array;
  /** As Unix has it: 0o120777 is a symbolic link. */
  mode?: number;
  flags?: number;
  method?: number;
  /** What both headers claim instead of the truth. */
  claims?: { size?: number; sum?: number };
  extra?: Buffer;
  encoding?: 'latin1';
  /** Of the header beside the content alone. */
  localPath?: string;
}

/** A .zip written down in a test, also one that no program would make. */
export function zip(members: ZipMember[], { before = '', between = '', comment = '' } = {}): Buffer {
  const files: Buffer[] = [Buffer.from(before)];
  const list: Buffer[] = [];
  for (const member of members) {
    const { path, data = '', mode = 0o100644, flags = 0, method = 8, claims = {}, extra = Buffer.alloc(0) } = member;
    const content = Buffer.from(data);
    const packed = method === 8 ? deflateRawSync(content) : content;
    const { size = content.length, sum = crc32(content) } = claims;
    const shared = (name: Buffer): Buffer =>
      Buffer.concat([
        numbers(2, 20, flags, method, 0, 0),
        numbers(4, sum, packed.length, size),
        numbers(2, name.length, extra.length),
      ]);
    const name = Buffer.from(path, member.encoding);
    const local = Buffer.from(member.localPath ?? path, member.encoding);
    const at = files.reduce((total, { length }) => total + length, 0);
    const central = Buffer.concat([numbers(2, 0, 0, 0), numbers(4, (mode << 16) >>> 0, at)]);
    list.push(Buffer.from('PK\x01\x02\x14\x03'), shared(name), central, name, extra);
    files.push(Buffer.from('PK\x03\x04'), shared(local), local, extra, packed, Buffer.from(between));
  }
  const [content, index] = [Buffer.concat(files), Buffer.concat(list)];
  const counts = numbers(2, 0, 0, members.length, members.length);
  const end = [Buffer.from('PK\x05\x06'), counts, numbers(4, index.length, content.length), numbers(2, comment.length)];
  return Buffer.concat([content, index, ...end, Buffer.from(comment)]);
}

/** Numbers of that many bytes each, the lowest byte first. */
function numbers(bytes: number, ...values: number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length);
  for (const [index, value] of values.entries()) buffer.writeUIntLE(value, index * bytes, bytes);
  return buffer;
}
