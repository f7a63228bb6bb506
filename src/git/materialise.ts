import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { describeBytes } from './limits.ts';
import { collisionKey, whyUnsafe } from './safename.ts';
import { type FileTree, notFollowed, splitPath, type TreeEntry } from './tree.ts';

export interface MaterialiseLimits {
  files: number;
  bytes: number;
  /** Folders inside each other. */
  depth: number;
}

export const DEFAULT_MATERIALISE_LIMITS: MaterialiseLimits = { files: 10_000, bytes: 64 * 1024 * 1024, depth: 32 };

/**
 * Writes a folder of a tree to `destination`, which must not exist yet, for programs that need real files. Anything that could
 * lead elsewhere or mean something special there is refused with GitUnsafePath, and then nothing is left behind. No file
 * comes out executable.
 */
export async function materialise(
  tree: FileTree,
  path: string,
  destination: string,
  limits: Partial<MaterialiseLimits> & { signal?: AbortSignal } = {},
): Promise<{ files: number; bytes: number }> {
  const { signal, ...rest } = limits;
  const bounds = { ...DEFAULT_MATERIALISE_LIMITS, ...rest };
  const source = splitPath(path).join('/');
  if ((await tree.list(source)).length === 0) {
    throw new EspalierError('SourceMissing', `There is no folder ${JSON.stringify(path)} at commit ${tree.commit}.`, {
      data: { path },
    });
  }
  await mkdir(destination, { mode: 0o700 });
  const total = { files: 0, bytes: 0 };

  async function writeBelow(folder: string, into: string, depth: number): Promise<void> {
    if (depth > bounds.depth) throw tooMuch(folder, `folders nested deeper than ${bounds.depth}`);
    const entries = await tree.list(folder);
    refuseUnsafe(entries);
    for (const entry of entries) {
      signal?.throwIfAborted();
      const target = join(into, entry.name);
      if (entry.type === 'folder') {
        await mkdir(target, { mode: 0o700 });
        await writeBelow(entry.path, target, depth + 1);
        continue;
      }
      const bytes = await tree.read(entry.path);
      total.files += 1;
      total.bytes += bytes?.length ?? 0;
      if (total.files > bounds.files) throw tooMuch(path, `more than ${bounds.files} files`);
      if (total.bytes > bounds.bytes) throw tooMuch(path, `more than ${describeBytes(bounds.bytes)}`);
      await writeFile(target, bytes ?? '', { mode: 0o600, flag: 'wx' });
    }
  }

  try {
    await writeBelow(source, destination, 0);
  } catch (error) {
    await rm(destination, { recursive: true, force: true });
    throw error;
  }
  return total;
}

function refuseUnsafe(entries: TreeEntry[]): void {
  const taken = new Set<string>();
  for (const { name, path, type } of entries) {
    const why =
      whyUnsafe(name) ?? (taken.has(collisionKey(name)) ? 'differs from another name only in case' : undefined);
    if (why !== undefined) {
      throw new EspalierError(
        'GitUnsafePath',
        `The name ${JSON.stringify(name)} in ${JSON.stringify(path)} ${why}; rename it.`,
        {
          data: { path },
          retry: false,
        },
      );
    }
    if (type === 'link' || type === 'submodule') throw notFollowed(path, type);
    taken.add(collisionKey(name));
  }
}

function tooMuch(path: string, why: string): EspalierError {
  return new EspalierError(
    'GitTooLarge',
    `The folder ${JSON.stringify(path === '' ? '.' : path)} has ${why}; point at a smaller one.`,
    {
      data: { path },
      retry: false,
    },
  );
}
