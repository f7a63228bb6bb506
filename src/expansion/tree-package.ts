import { createGunzip } from 'node:zlib';
import { EspalierError, isError } from '../api/index.ts';
import { DEFAULT_LIMITS } from '../charts/limits.ts';
import { type TarMember, tarMembers } from '../charts/tar-read.ts';
import { type FileTree, joinPath, splitPath } from '../git/tree.ts';
import { faultOf, type PackageFault } from './fault.ts';
import { whyUnsafe } from './names.ts';
import type { PackageFiles } from './package-files.ts';

const CHUNK = 64 * 1024;
const MOST_FILES = 10_000;

/** A package in Git: a folder with an `expansion.yaml`, or a .tgz of one. */
export async function treePackage(tree: FileTree, path: string): Promise<PackageFiles> {
  const clean = splitPath(path).join('/');
  const id = await tree.id(clean);
  const shown = clean === '' ? '.' : clean;
  if (id === undefined)
    throw new EspalierError('SourceMissing', `There is nothing at ${JSON.stringify(shown)} in Git; check the path.`);
  const archive = await tree.read(clean);
  return archive === undefined ? await folderPackage(tree, clean, id) : await tgzPackage(archive, `git:${id}`, shown);
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
  for await (const { path, type, kind } of filesIn(archive, shown)) {
    const wrong = whyUnsafe(path);
    if (paths.size + faults.length >= MOST_FILES) throw tooMany(shown);
    if (wrong !== undefined) faults.push(faultOf(path, `the path ${wrong}`));
    else if (type !== 'file') faults.push(faultOf(path, `is ${kind}: put the file itself there`));
    else if (paths.has(path)) faults.push(faultOf(path, 'is in the package twice: remove one'));
    else paths.add(path);
  }
  return {
    id,
    paths: [...paths].sort(),
    faults,
    async read(wanted) {
      if (!paths.has(wanted)) return undefined;
      for await (const { path, size, content } of filesIn(archive, shown)) {
        if (path !== wanted) continue;
        if (size > DEFAULT_LIMITS.archiveBytes)
          throw refused(`${path} has ${size} bytes; ${DEFAULT_LIMITS.archiveBytes} are allowed: make it smaller`);
        const parts: Uint8Array[] = [];
        for await (const part of content()) parts.push(part);
        return Buffer.concat(parts);
      }
      return undefined;
    },
  };
}

async function* filesIn(archive: Uint8Array, shown: string): AsyncGenerator<TarMember> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  gunzip.end(archive);
  try {
    for await (const member of tarMembers(gunzip)) {
      const path = member.path.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
      if (path !== '' && path !== '.' && member.type !== 'folder') yield { ...member, path };
    }
  } catch (error) {
    throw isError(error, 'ChartRefused') || isBadGzip(error)
      ? refused(`${shown} is no package, or not a whole one: build it again with espalier expansion build`, error)
      : error;
  } finally {
    gunzip.destroy();
  }
}

function isBadGzip(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

function tooMany(shown: string): EspalierError {
  return refused(`${shown} holds more than ${MOST_FILES} files: no expansion does`);
}

function refused(message: string, cause?: unknown): EspalierError {
  return new EspalierError('ExpansionInvalid', message, { retry: false, ...(cause === undefined ? {} : { cause }) });
}
