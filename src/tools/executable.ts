import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/** Every file of that name on a PATH that may be run, in order, each once. Relative folders are skipped. */
export async function onPath(name: string, path: string | undefined): Promise<string[]> {
  const found = new Map<string, string>();
  for (const folder of (path ?? '').split(':')) {
    const file = join(folder, name);
    if (!isAbsolute(folder) || !(await isExecutable(file))) continue;
    const real = await realpath(file);
    if (!found.has(real)) found.set(real, file);
  }
  return [...found.values()];
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
