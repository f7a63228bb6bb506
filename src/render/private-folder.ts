import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { collisionKey, whyUnsafe } from '../git/safename.ts';
import { withScratchFolder } from '../tools/scratch-folder.ts';

/** A folder that only this user can look into, gone when `use` ends in whatever way. */
export async function withPrivateFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  return await withScratchFolder('espalier-render-', use);
}

/**
 * Writes files by their path below a folder. Names that could lead out of it or mean something special are refused,
 * and so are two that some file systems take for one.
 */
export async function writeFiles(folder: string, files: ReadonlyMap<string, Uint8Array | string>): Promise<void> {
  const taken = new Map<string, string>();
  for (const path of files.keys()) {
    const why = path
      .split('/')
      .map(whyUnsafe)
      .find((reason) => reason !== undefined);
    if (why !== undefined) throw unsafe(path, why);
    const other = taken.get(collisionKey(path));
    if (other !== undefined) throw unsafe(path, `is the same as ${JSON.stringify(other)} on some systems`);
    taken.set(collisionKey(path), path);
  }
  for (const [path, content] of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, content, { mode: 0o600, flag: 'wx' });
  }
}

function unsafe(path: string, why: string): EspalierError {
  return new EspalierError('GitUnsafePath', `The name in ${JSON.stringify(path)} ${why}; rename it.`, {
    data: { path },
    retry: false,
  });
}
