import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes the files of a folder that were touched longest ago while there are too many of them, or too much. */
export async function trimFolder(
  folder: string,
  mostFiles: number,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<void> {
  const files: { path: string; touched: number; size: number }[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) files.push({ path, touched: found.mtimeMs, size: found.size });
  }
  let bytes = files.reduce((sum, { size }) => sum + size, 0);
  let count = files.length;
  for (const { path, size } of files.sort((a, b) => a.touched - b.touched)) {
    if (count <= mostFiles && bytes <= mostBytes) return;
    await rm(path, { force: true });
    count -= 1;
    bytes -= size;
  }
}
