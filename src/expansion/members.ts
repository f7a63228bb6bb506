import { createReadStream } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EspalierError } from '../api/index.ts';
import { type TarMember, tarMembers } from '../charts/tar-read.ts';

const CHUNK = 16 * 1024;

/** Everything in a package, a folder or a .tgz, one after the other. */
export async function* membersOf(path: string): AsyncGenerator<TarMember> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !(found.isDirectory() || found.isFile())) {
    const why = found === undefined ? 'does not exist' : 'is neither a folder nor a file';
    throw new EspalierError('InvalidConfiguration', `${path} ${why}; name the folder or the .tgz of a package`, {
      retry: false,
    });
  }
  yield* found.isDirectory() ? folderMembers(path, '') : tgzMembers(path);
}

/** In the order of their names, whatever the file system's is. */
async function* folderMembers(root: string, folder: string): AsyncGenerator<TarMember> {
  const names = await readdir(join(root, folder));
  for (const name of names.sort()) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const file = join(root, path);
    const found = await lstat(file);
    const base = { path, size: found.size, kind: found.isSymbolicLink() ? 'a symbolic link' : 'a device or a socket' };
    if (found.isDirectory()) {
      yield { ...base, type: 'folder', content: nothing };
      yield* folderMembers(root, path);
    } else if (found.isFile()) yield { ...base, type: 'file', content: () => contentOf(file) };
    else yield { ...base, type: found.isSymbolicLink() ? 'link' : 'other', content: nothing };
  }
}

async function* tgzMembers(file: string): AsyncGenerator<TarMember> {
  yield* packedMembers(createReadStream(file, { highWaterMark: CHUNK }));
}

/** The members of a tar that is gzipped. */
export async function* packedMembers(source: Readable): AsyncGenerator<TarMember> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  source.on('error', (error) => gunzip.destroy(error));
  try {
    yield* tarMembers(source.pipe(gunzip));
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

export async function* contentOf(file: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK })) yield chunk;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
