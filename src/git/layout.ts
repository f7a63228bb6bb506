import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { isOid } from './objects.ts';
import { type PackContents, writeIndex } from './packindex.ts';

/** The commit that was fetched last, and the one before: what is asked about, and what a rebuilt store keeps. */
export const HEAD_REF = 'refs/espalier/head';
export const PREVIOUS_REF = 'refs/espalier/previous';
/** Where git puts what it fetches, until it is known what that is. */
export const INCOMING_REF = 'refs/espalier/incoming';
/** Commits that are kept by name until they are dropped, beside the one that is followed. */
const KEPT_FOLDER = 'refs/espalier/kept';
const TEMPORARY = /^(tmp[-_]|\.tmp-|incoming-)|\.lock$/;

/** Makes a folder a bare repository, and removes what an interrupted run left. Nobody else may use the folder meanwhile. */
export async function prepareFolder(dir: string): Promise<void> {
  await mkdir(join(dir, 'objects', 'pack'), { recursive: true, mode: 0o700 });
  await mkdir(join(dir, KEPT_FOLDER), { recursive: true });
  await writeFile(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(dir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tfilemode = false\n\tbare = true\n');
  await sweep(dir, '.', TEMPORARY);
  await sweepInterrupted(dir);
  // A pack without its index is one that was being put in place.
  const packs = new Set(await readdir(packFolder(dir)));
  for (const name of packs) {
    if (name.endsWith('.pack') && !packs.has(`${name.slice(0, -5)}.idx`)) await rm(join(packFolder(dir), name));
  }
}

/** Removes what a killed git leaves: half a pack and locks. Nobody may write to the store meanwhile. */
export async function sweepInterrupted(dir: string): Promise<void> {
  await sweep(dir, '.', /\.lock$/);
  for (const folder of ['objects', 'objects/pack', 'refs/espalier', KEPT_FOLDER]) await sweep(dir, folder, TEMPORARY);
}

async function sweep(dir: string, folder: string, pattern: RegExp): Promise<void> {
  for (const name of await readdir(join(dir, folder))) {
    if (pattern.test(name)) await rm(join(dir, folder, name), { recursive: true, force: true });
  }
}

export async function exists(path: string): Promise<boolean> {
  return (await readText(path)) !== undefined;
}

export function packFolder(dir: string): string {
  return join(dir, 'objects', 'pack');
}

/** A path for something that does not outlive this run: a crash leaves it to the next `prepareFolder`. */
export function temporaryPath(folder: string): string {
  return join(folder, `tmp_${randomUUID()}`);
}

/** Puts a received pack where readers find it: whole or not at all. */
export async function placePack(dir: string, packPath: string, contents: PackContents): Promise<void> {
  const name = join(packFolder(dir), `pack-${contents.checksum}`);
  const index = temporaryPath(packFolder(dir));
  await writeSynced(index, writeIndex(contents));
  await rename(packPath, `${name}.pack`);
  await rename(index, `${name}.idx`);
}

export async function listPacks(dir: string): Promise<{ name: string; bytes: number }[]> {
  const packs: { name: string; bytes: number }[] = [];
  for (const name of await readdir(packFolder(dir))) {
    if (!name.endsWith('.pack')) continue;
    const { size } = await stat(join(packFolder(dir), name));
    packs.push({ name: name.slice(0, -5), bytes: size });
  }
  return packs;
}

/** Readers that have a pack open go on reading it. */
export async function removePacks(dir: string, names: string[]): Promise<void> {
  for (const name of names) {
    for (const ending of ['idx', 'rev', 'bitmap', 'pack'])
      await rm(join(packFolder(dir), `${name}.${ending}`), { force: true });
  }
}

export async function readRef(dir: string, ref: string): Promise<string | undefined> {
  const text = (await readText(join(dir, ref)))?.trim();
  return text !== undefined && isOid(text) ? text : undefined;
}

export async function writeRef(dir: string, ref: string, oid: string): Promise<void> {
  await replace(join(dir, ref), `${oid}\n`);
}

/** The ref of a kept commit. Names are chosen by the program, not by a server. */
export function keptRef(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name)) return `${KEPT_FOLDER}/${name}`;
  throw new EspalierError(
    'Internal',
    `A commit can't be kept as ${JSON.stringify(name)}: use letters, digits, - and _.`,
  );
}

export async function readKept(dir: string): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  for (const name of (await readdir(join(dir, KEPT_FOLDER))).sort()) {
    const oid = TEMPORARY.test(name) ? undefined : await readRef(dir, `${KEPT_FOLDER}/${name}`);
    if (oid !== undefined) kept.set(name, oid);
  }
  return kept;
}

export async function removeRef(dir: string, ref: string): Promise<void> {
  await rm(join(dir, ref), { force: true });
}

/** Commits whose parents were left out. */
export async function readShallow(dir: string): Promise<Set<string>> {
  return new Set(((await readText(join(dir, 'shallow'))) ?? '').split('\n').filter(isOid));
}

export async function writeShallow(dir: string, oids: Set<string>): Promise<void> {
  if (oids.size === 0) await rm(join(dir, 'shallow'), { force: true });
  else await replace(join(dir, 'shallow'), `${[...oids].sort().join('\n')}\n`);
}

async function replace(path: string, text: string): Promise<void> {
  const temporary = temporaryPath(dirname(path));
  await writeSynced(temporary, text);
  await rename(temporary, path);
}

async function writeSynced(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
