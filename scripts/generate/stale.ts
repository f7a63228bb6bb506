import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Paths below `root` that differ from what is wanted: missing, changed, or lying in a folder of generated files without
 * being one.
 */
export async function findStale(
  root: string,
  wanted: ReadonlyMap<string, string>,
  folders: readonly string[],
): Promise<string[]> {
  const present = new Set<string>();
  for (const folder of folders) {
    const names = await readdir(join(root, folder)).catch(ifMissing(() => []));
    for (const name of names) present.add(`${folder}/${name}`);
  }
  const stale = [...present].filter((path) => !wanted.has(path));
  for (const [path, text] of wanted) {
    const found = await readFile(join(root, path), 'utf8').catch(ifMissing(() => undefined));
    if (found !== text) stale.push(path);
  }
  return stale.sort();
}

/** Makes the stale paths what is wanted, removing what is not. */
export async function refresh(root: string, wanted: ReadonlyMap<string, string>, stale: string[]): Promise<void> {
  for (const path of stale) {
    const text = wanted.get(path);
    if (text === undefined) {
      await rm(join(root, path), { recursive: true });
    } else {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
  }
}

function ifMissing<T>(fallback: () => T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return fallback();
    throw error;
  };
}
