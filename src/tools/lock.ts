import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EspalierError } from '../api/errors.ts';
import { hasCode } from './errno.ts';
import { isGone, type Owner, ownerOf, parseOwner } from './owner.ts';

export interface LockOptions {
  /** What the holder does, for those who wait. */
  doing: string;
  signal?: AbortSignal | undefined;
  /** Called once, when somebody else holds the lock. */
  onWait?: ((owner: Owner | undefined) => void) | undefined;
  /** A holder that shows no sign of life for so long is taken for dead. Default 60 s. */
  silentMs?: number | undefined;
}

const SILENT_MS = 60_000;
const BEAT_MS = 2000;
const LOOK_EVERY_MS = 100;
/** Removing a dead holder's lock takes milliseconds; a claim on that older than this was left by a killed process. */
const CLAIM_MS = 5000;

/**
 * Does the work while no other process, and nobody else in this one, holds the lock file. A holder that died is
 * noticed at once on this machine, elsewhere by its silence. The work must survive being done twice: a holder that
 * slept through the silence allowed (a suspended laptop) finds that another took over.
 */
export async function withLock<T>(file: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  const owner = ownerOf(randomUUID(), options.doing);
  const handle = await acquire(file, owner, options);
  const beat = setInterval(() => void touch(handle), Math.min(BEAT_MS, (options.silentMs ?? SILENT_MS) / 5));
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await handle.close();
    if ((await holderOf(file))?.token === owner.token) await rm(file, { force: true });
  }
}

async function acquire(file: string, owner: Owner, options: LockOptions): Promise<FileHandle> {
  for (let waited = false; ; waited = true) {
    if (options.signal?.aborted) throw gaveUp(file, options.signal);
    const handle = await create(file, owner);
    if (handle !== undefined) return handle;
    if (await isAbandoned(file, options)) {
      await removeAbandoned(file, options);
      continue;
    }
    if (!waited) options.onWait?.(await holderOf(file));
    await sleep(LOOK_EVERY_MS, undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(
      () => {},
    );
  }
}

async function create(file: string, owner: Owner): Promise<FileHandle | undefined> {
  try {
    const handle = await open(file, 'wx', 0o600);
    await handle.writeFile(JSON.stringify(owner));
    return handle;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined;
    throw error;
  }
}

/** Touches the file that we opened, not whatever has its name by now. */
async function touch(handle: FileHandle): Promise<void> {
  const now = new Date();
  await handle.utimes(now, now).catch(() => {});
}

async function holderOf(file: string): Promise<Owner | undefined> {
  return parseOwner(await readFile(file, 'utf8').catch(() => ''));
}

async function isAbandoned(file: string, options: LockOptions): Promise<boolean> {
  const age = await ageOf(file);
  if (age === undefined) return false;
  const holder = await holderOf(file);
  return (holder !== undefined && isGone(holder)) || age > (options.silentMs ?? SILENT_MS);
}

/**
 * Two who wait may both see a dead holder; the slower one must not remove the lock that the faster one then made. So
 * only who made the claim folder may remove, and looks again before.
 */
async function removeAbandoned(file: string, options: LockOptions): Promise<void> {
  const claim = `${file}.claim`;
  try {
    await mkdir(claim);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    if (((await ageOf(claim)) ?? 0) > CLAIM_MS) await rmdir(claim).catch(() => {});
    await sleep(LOOK_EVERY_MS);
    return;
  }
  try {
    if (await isAbandoned(file, options)) await rm(file, { force: true });
  } finally {
    await rmdir(claim).catch(() => {});
  }
}

async function ageOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? undefined : Date.now() - found.mtimeMs;
}

function gaveUp(file: string, signal: AbortSignal): EspalierError {
  return new EspalierError('Aborted', `stopped while waiting for ${file}`, { cause: signal.reason });
}
