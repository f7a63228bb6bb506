import { createGunzip } from 'node:zlib';
import { isError } from '../api/index.ts';
import { broken } from './errors.ts';
import { memberPath, type TarMember, tarMembers } from './tar-read.ts';

const CHUNK = 64 * 1024;

/** What a .tgz holds but folders, one after the other, as it is unpacked; never more than a part of one in memory. */
export async function* tgzFiles(archive: Uint8Array): AsyncGenerator<TarMember> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  gunzip.end(archive);
  try {
    for await (const member of tarMembers(gunzip)) {
      const path = memberPath(member.path);
      if (path !== '' && member.type !== 'folder') yield { ...member, path };
    }
  } catch (error) {
    if (isError(error) || !isBadGzip(error)) throw error;
    throw broken('it is no gzip, or not a whole one');
  } finally {
    gunzip.destroy();
  }
}

/** One file of a .tgz; undefined when it has none at that path. `tooLarge` is what is thrown for one of more bytes. */
export async function fileInTgz(
  archive: Uint8Array,
  wanted: string,
  most: number,
  tooLarge: (size: number) => Error,
): Promise<Buffer | undefined> {
  for await (const { path, type, size, content } of tgzFiles(archive)) {
    if (path !== wanted || type !== 'file') continue;
    if (size > most) throw tooLarge(size);
    const parts: Uint8Array[] = [];
    for await (const part of content()) parts.push(part);
    return Buffer.concat(parts);
  }
  return undefined;
}

function isBadGzip(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}
