import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from './errno.ts';
import { isExecutable } from './executable.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tool } from './table.ts';

const RECORD = 'installed.json';

/**
 * The folder of one program in the cache. Its name holds a hash of all that decides what is in it, so that a changed
 * recipe never finds what an older one made.
 */
export async function folderOf(
  tool: Tool,
  version: string,
  { cache, modules, platform }: Surroundings,
): Promise<string> {
  const { module, stamp, ...recipe } = tool.recipe;
  const files = ['go.mod', 'go.sum'].map((file) => readFile(join(modules, module, file), 'utf8').catch(() => ''));
  const parts = [platform, version, recipe, stamp?.(version) ?? {}, ...(await Promise.all(files))];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
  return join(cache.bin, `${tool.name}-${version}-${hash}`);
}

/** The program in its folder, or undefined when it is not there whole: a power cut may leave an empty file. */
export async function installedIn(folder: string, name: string): Promise<string | undefined> {
  const path = join(folder, name);
  try {
    const record: unknown = JSON.parse(await readFile(join(folder, RECORD), 'utf8'));
    const { size }: { size?: unknown } = { ...(typeof record === 'object' ? record : {}) };
    return (await stat(path)).size === size && (await isExecutable(path)) ? path : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Moves a complete program into the cache in one step: it is there whole or not at all. `staged` is the folder that
 * holds it under its name, with all that belongs beside it.
 */
export async function place(staged: string, folder: string, name: string, how: string): Promise<string> {
  const { size } = await stat(join(staged, name));
  await writeFile(join(staged, RECORD), `${JSON.stringify({ how, size, at: new Date().toISOString() })}\n`);
  await mkdir(dirname(folder), { recursive: true });
  try {
    await rename(staged, folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    const there = await installedIn(folder, name);
    if (there !== undefined) return there;
    await rm(folder, { recursive: true, force: true });
    await rename(staged, folder);
  }
  return join(folder, name);
}
