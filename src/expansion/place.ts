import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { cantWrite } from './cant-write.ts';

export interface Placed {
  file: string;
  backup: string;
  content: Uint8Array;
  isExecutable: boolean;
  /** What stands there now. */
  before: { content: Buffer; mode: number } | undefined;
  outcome: 'new' | 'same' | 'overrides';
}

/** Looks what placing a file would do. Nothing is written. */
export async function lookAt(place: Pick<Placed, 'file' | 'backup' | 'content' | 'isExecutable'>): Promise<Placed> {
  const found = await stat(place.file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') throw inTheWay(`${place.file} can't be written, for a folder on its way is a file`);
    return absent(error);
  });
  if (found?.isFile() === false) throw inTheWay(`${place.file} is no file`);
  if (found === undefined) return { ...place, before: undefined, outcome: 'new' };
  const content = await readFile(place.file);
  const mode = found.mode & 0o777;
  const isSame = content.equals(place.content) && (!place.isExecutable || (mode & 0o100) !== 0);
  return { ...place, before: { content, mode }, outcome: isSame ? 'same' : 'overrides' };
}

/** Writes the file, after a backup of what it overrides. The first backup stays: it is what the installer came with. */
export async function putInPlace({ file, backup, content, isExecutable, before, outcome }: Placed): Promise<void> {
  if (outcome === 'same') return;
  if (before !== undefined && (await stat(backup).catch(absent)) === undefined)
    await writeWhole(backup, before.content, before.mode);
  await writeWhole(file, content, isExecutable ? 0o755 : (before?.mode ?? 0o644));
}

/** Whatever happens meanwhile, the file has its old content or the new one: written beside, to the disk, then renamed. */
export async function writeWhole(file: string, content: Uint8Array | string, mode: number): Promise<void> {
  const folder = dirname(file);
  const beside = join(folder, `.${basename(file)}.espalier-new`);
  try {
    await mkdir(folder, { recursive: true });
    // What a crash left there is nobody's.
    await rm(beside, { force: true });
    const handle = await open(beside, 'wx', mode);
    try {
      await handle.writeFile(content);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    cantWrite(file, error);
  }
  const parent = await open(folder, 'r');
  await parent.sync().finally(() => parent.close());
}

function inTheWay(what: string): EspalierError {
  return new EspalierError('CommandRefused', `${what}: move it away, or name another --data-dir`, { retry: false });
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
