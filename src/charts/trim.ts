import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes the files of a folder that were touched longest ago, when there are more than `most`; half of those remain. */
export async function trimFolder(folder: string, most: number): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= most) return;
  const aged: { name: string; touched: number }[] = [];
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    aged.push({ name, touched: found?.mtimeMs ?? 0 });
  }
  aged.sort((a, b) => a.touched - b.touched);
  for (const { name } of aged.slice(0, names.length - most / 2)) await rm(join(folder, name), { force: true });
}
