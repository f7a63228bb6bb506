import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { EspalierError } from '../api/index.ts';
import { readTar } from '../charts/tar-read.ts';
import { readExpansion } from '../expansion/format.ts';
import type { MergeFields } from '../expansion/merge-plan.ts';
import { folderTree } from '../git/foldertree.ts';
import { whyUnsafe } from '../git/safename.ts';
import { isInRegistry, withPackagePlace } from './expansion-place.ts';
import type { WireFlags } from './mirror-tools.ts';

/** A package that was opened: what it says, and its files by their path in it. */
export interface OpenPackage {
  expansion: MergeFields;
  read(path: string): Promise<Uint8Array>;
}

/** What is written somewhere under its name. */
const PLACED = ['files', 'hooks', 'provider'] as const;
/** Never read by a merge, and of any size. */
const LARGE = /^(charts\/|images\.tar)/;

/** Of one file that is placed, where it comes from a registry. */
const FILE_BYTES = 256 * 1024 * 1024;

/** Opens a folder, a `.tgz` or a package in a registry for as long as it is used. */
export async function withPackage<T>(
  location: string,
  flags: WireFlags,
  use: (opened: OpenPackage) => Promise<T>,
): Promise<T> {
  if (isInRegistry(location))
    return await withPackagePlace(location, flags, async (at, registry) => {
      const { ociPackage } = await import('../expansion/oci-package.ts');
      const files = await ociPackage(at, { registry, fileBytes: FILE_BYTES });
      return await use(await openWith(location, files.read));
    });
  const found = await stat(location).catch(() => undefined);
  if (found === undefined) throw wrong(`${location}: there is no such folder or .tgz`);
  return await use(await openWith(location, found.isDirectory() ? inFolder(location) : await inArchive(location)));
}

async function openWith(location: string, find: Find): Promise<OpenPackage> {
  const text = await find('expansion.yaml');
  if (text === undefined) throw wrong(`${location} has no expansion.yaml: is it the folder of the package itself?`);
  const expansion = fieldsOf(
    Buffer.from(text).toString(),
    isInRegistry(location) ? `${location} expansion.yaml` : join(location, 'expansion.yaml'),
  );
  return {
    expansion,
    async read(path) {
      const content = await find(path);
      if (content !== undefined) return content;
      throw wrong(
        `${location}: expansion.yaml lists ${path}, which is not there; add the file, or take it off the list`,
      );
    },
  };
}

type Find = (path: string) => Promise<Uint8Array | undefined>;

function inFolder(folder: string): Find {
  const tree = folderTree(folder);
  return async (path) => await tree.read(path);
}

async function inArchive(file: string): Promise<Find> {
  const files = new Map<string, Uint8Array>();
  const clean = (path: string) => path.replace(/^\.\//, '');
  const source = createReadStream(file);
  const unpacked = createGunzip();
  source.once('error', (error) => unpacked.destroy(error)).pipe(unpacked);
  const wants = (path: string) => !LARGE.test(clean(path));
  try {
    for await (const { path, data } of readTar(unpacked, { maxFileBytes: Number.MAX_SAFE_INTEGER, wants })) {
      if (data === undefined) continue;
      if (files.has(clean(path))) throw wrong(`${file} holds ${clean(path)} twice`);
      files.set(clean(path), data);
    }
  } catch (error) {
    if (error instanceof EspalierError) throw error;
    throw wrong(`${file} is no whole .tgz: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    source.destroy();
  }
  return (path) => Promise.resolve(files.get(path));
}

/** What it says, or all that is wrong with it, each with its place. */
function fieldsOf(text: string, file: string): MergeFields {
  const { expansion, faults } = readExpansion(text);
  const told = faults.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
  told.push(...PLACED.flatMap((name) => unsafeNames(name, expansion[name])).map((why) => `${file}: ${why}`));
  for (const name of [expansion.expansion_name, expansion.expansion_version]) {
    const why = name === undefined ? undefined : whyUnsafe(name);
    if (why !== undefined) told.push(`${file}: ${JSON.stringify(name)} ${why}`);
  }
  if (told.length > 0) throw wrong(told.join('\n'));
  return expansion;
}

function unsafeNames(list: string, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const why = name
      .split('/')
      .map(whyUnsafe)
      .find((reason) => reason !== undefined);
    return why === undefined ? [] : [`${list}: a part of ${JSON.stringify(name)} ${why}`];
  });
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
