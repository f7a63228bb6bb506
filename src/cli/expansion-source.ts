import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { parseDocument } from 'yaml';
import { EspalierError, type JsonObject } from '../api/index.ts';
import { readTar } from '../charts/tar-read.ts';
import type { MergeFields } from '../expansion/merge-plan.ts';
import { folderTree } from '../git/foldertree.ts';
import { whyUnsafe } from '../git/safename.ts';

/** A package that was opened: what it says, and its files by their path in it. */
export interface OpenPackage {
  expansion: MergeFields;
  read(path: string): Promise<Uint8Array>;
}

const LISTS = [
  ...(['files', 'hooks', 'provider'] as const),
  ...(['installer_skip_steps', 'create_cluster_skip_conditions', 'create_cluster_delegate_conditions'] as const),
] as const;
const EMPTY: Record<string, unknown> = { values: {}, ...Object.fromEntries(LISTS.map((name) => [name, []])) };
/** Never read by a merge, and of any size. */
const LARGE = /^(charts\/|images\.tar)/;

/** Opens a folder or a `.tgz`. */
export async function openPackage(location: string): Promise<OpenPackage> {
  const found = await stat(location).catch(() => undefined);
  if (found === undefined) throw wrong(`${location}: there is no such folder or .tgz`);
  const find = found.isDirectory() ? inFolder(location) : await inArchive(location);
  const text = await find('expansion.yaml');
  if (text === undefined) throw wrong(`${location} has no expansion.yaml: is it the folder of the package itself?`);
  const expansion = fieldsOf(Buffer.from(text).toString(), join(location, 'expansion.yaml'));
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

/** The fields that a merge needs, or all of their faults. */
function fieldsOf(text: string, file: string): MergeFields {
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined) throw wrong(`${file}: ${broken.message.split('\n')[0]}`);
  const fields = { ...EMPTY, ...((document.toJS() ?? {}) as Record<string, unknown>) };
  const faults: string[] = [];
  for (const name of ['expansion_name', 'expansion_version']) {
    const value = fields[name];
    if (value === undefined) continue;
    const why = typeof value === 'string' ? whyUnsafe(value) : 'is no text';
    if (why !== undefined) faults.push(`${name} ${why}`);
  }
  for (const name of LISTS) {
    const value = fields[name];
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    if (!isList) faults.push(`${name} is no list of texts`);
    else if (['files', 'hooks', 'provider'].includes(name)) faults.push(...unsafeNames(name, value));
  }
  const { values } = fields;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) faults.push('values is no map');
  if (faults.length > 0) throw wrong(`${file}: ${faults.join('; ')}`);
  return { ...(fields as unknown as MergeFields), values: values as JsonObject };
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
