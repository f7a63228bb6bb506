import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cache } from './cache.ts';

const REMEMBER_MS = 5 * 60_000;

/** Until when each origin is taken for unreachable, in milliseconds since the epoch. */
type Silence = Record<string, number>;

/** Of this process, by cache folder: it holds even where the cache can't be written. */
const seen = new Map<string, Silence>();

/** True while an origin that could not be reached need not be tried again. */
export async function isUnreachable(cache: Cache, origin: string, now = Date.now()): Promise<boolean> {
  const until = Math.max(seen.get(cache.root)?.[origin] ?? 0, (await stored(cache))[origin] ?? 0);
  return until > now && until <= now + REMEMBER_MS;
}

/** So that ten programs from one publisher don't each wait for the same silence, in this process or the next. */
export async function rememberUnreachable(cache: Cache, origin: string, now = Date.now()): Promise<void> {
  const until = now + REMEMBER_MS;
  seen.set(cache.root, { ...seen.get(cache.root), [origin]: until });
  const silence = { ...(await stored(cache)), [origin]: until };
  const temporary = `${fileOf(cache)}.${process.pid}`;
  try {
    await mkdir(cache.root, { recursive: true });
    await writeFile(temporary, JSON.stringify(silence));
    await rename(temporary, fileOf(cache));
  } catch {
    await rm(temporary, { force: true });
  }
}

/** For a person who asks again after mending the network. */
export async function forgetUnreachable(cache: Cache): Promise<void> {
  seen.delete(cache.root);
  await rm(fileOf(cache), { force: true });
}

async function stored(cache: Cache): Promise<Silence> {
  try {
    const value: unknown = JSON.parse(await readFile(fileOf(cache), 'utf8'));
    const entries = Object.entries({ ...(typeof value === 'object' ? value : {}) });
    return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
  } catch {
    return {};
  }
}

function fileOf(cache: Cache): string {
  return join(cache.root, 'unreachable.json');
}
