import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import { cacheFor } from '../tools/cache.ts';
import { isGone, ownerOf, parseOwner } from '../tools/owner.ts';

const OWNER_FILE = 'owner.json';
const PREFIX = 'playground-';
/** A folder without an owner's record is being made right now, or its maker died at once. */
const UNOWNED_GRACE_MS = 10 * 60_000;
/** Of an owner on another machine or in another container nothing is known; after so long its folder counts as left behind. */
const FOREIGN_GRACE_MS = 30 * 24 * 3_600_000;

/** Where playgrounds keep their files while they run: beside the cached programs, so nothing else of the home is touched. */
export function playgroundRoot(env: NodeJS.ProcessEnv = process.env): string {
  return join(cacheFor(env).root, 'run');
}

/** What a path of a Unix socket may be long, on every system, less what follows the folder. */
const LONGEST_PATH = 103 - '/peer.sock'.length;

/** A new folder that only this user can enter. It is swept by a later start if this process dies before removing it. */
export async function createPrivateFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(root, PREFIX));
  if (Buffer.byteLength(folder) > LONGEST_PATH) {
    await removeFolder(folder);
    throw new EspalierError(
      'PlaygroundFailed',
      `the path of ${folder} is too long for sockets; name a shorter cache folder: ESPALIER_CACHE_DIR=/path/to/folder`,
      { retry: false },
    );
  }
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(ownerOf(randomUUID(), 'playground')), { mode: 0o600 });
  return folder;
}

/** Removes what playgrounds left behind that died without cleaning up, and nothing whose owner may live. */
export async function sweepFolders(root: string): Promise<string[]> {
  const names = await readdir(root).catch(() => []);
  const swept: string[] = [];
  for (const name of names) {
    const folder = join(root, name);
    if (!name.startsWith(PREFIX) || !(await isAbandoned(folder))) continue;
    await removeFolder(folder);
    swept.push(folder);
  }
  return swept;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

async function isAbandoned(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined || found.uid !== userInfo().uid) return false;
  const age = Date.now() - found.mtimeMs;
  const owner = parseOwner(await readFile(join(folder, OWNER_FILE), 'utf8').catch(() => ''));
  if (owner === undefined) return age > UNOWNED_GRACE_MS;
  const isOurs = owner.machine === ownerOf('', '').machine;
  return isOurs ? isGone(owner) : age > FOREIGN_GRACE_MS;
}
