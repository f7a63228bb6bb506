import { EspalierError, isError } from '../api/index.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import { fileInTgz, tgzFiles } from '../charts/tgz-files.ts';
import { type FileTree, joinPath, splitPath } from '../git/tree.ts';
import { faultOf, type PackageFault } from './fault.ts';
import { whyUnsafe } from './names.ts';
import type { PackageFiles } from './package-files.ts';

const MOST_FILES = 10_000;

/** A package in Git: a folder with an `expansion.yaml`, or a .tgz of one. */
export async function treePackage(
  tree: FileTree,
  path: string,
): Promise<PackageFiles & { form: 'folder' | 'archive' }> {
  const clean = splitPath(path).join('/');
  const id = await tree.id(clean);
  const shown = clean === '' ? '.' : clean;
  if (id === undefined)
    throw new EspalierError('SourceMissing', `There is nothing at ${JSON.stringify(shown)} in Git; check the path.`);
  const archive = await tree.read(clean);
  return archive === undefined
    ? { form: 'folder', ...(await folderPackage(tree, clean, id)) }
    : { form: 'archive', ...(await tgzPackage(archive, `git:${id}`, shown)) };
}

async function folderPackage(tree: FileTree, folder: string, id: string): Promise<PackageFiles> {
  const paths = new Set<string>();
  const faults: PackageFault[] = [];
  for await (const { path: whole, type } of tree.walk(folder)) {
    if (type === 'folder') continue;
    const path = folder === '' ? whole : whole.slice(folder.length + 1);
    if (paths.size + faults.length >= MOST_FILES) throw tooMany(folder);
    if (type === 'file') paths.add(path);
    else faults.push(faultOf(path, `is a ${type}, which is not followed: put the file itself there`));
  }
  return {
    id: `git:${id}`,
    paths: [...paths].sort(),
    faults,
    read: async (path) => (paths.has(path) ? await tree.read(joinPath(folder, path)) : undefined),
  };
}

/** Reads the archive anew for each file: what is large in it, the images, is never in memory. */
export async function tgzPackage(archive: Uint8Array, id: string, shown: string): Promise<PackageFiles> {
  const paths = new Set<string>();
  const faults: PackageFault[] = [];
  try {
    for await (const { path, type, kind } of tgzFiles(archive)) {
      const wrong = whyUnsafe(path);
      if (paths.size + faults.length >= MOST_FILES) throw tooMany(shown);
      if (wrong !== undefined) faults.push(faultOf(path, `the path ${wrong}`));
      else if (type !== 'file') faults.push(faultOf(path, `is ${kind}: put the file itself there`));
      else if (paths.has(path)) faults.push(faultOf(path, 'is in the package twice: remove one'));
      else paths.add(path);
    }
  } catch (error) {
    if (!isError(error, 'ChartRefused')) throw error;
    throw refused(`${shown} is no package, or not a whole one: build it again with espalier expansion build`, error);
  }
  return {
    id,
    paths: [...paths].sort(),
    faults,
    read: (path) =>
      fileInTgz(archive, path, DEFAULT_LIMITS.archiveBytes, (size) =>
        refused(`${path} has ${size} bytes; ${DEFAULT_LIMITS.archiveBytes} are allowed: make it smaller`),
      ),
  };
}

function tooMany(shown: string): EspalierError {
  return refused(`${shown} holds more than ${MOST_FILES} files: no expansion does`);
}

function refused(message: string, cause?: unknown): EspalierError {
  return new EspalierError('ExpansionInvalid', message, { retry: false, ...(cause === undefined ? {} : { cause }) });
}
