import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

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
