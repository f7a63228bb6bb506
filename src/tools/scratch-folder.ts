import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { guardFolder, prepareGuard } from './guard.ts';

export interface ScratchFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * A new folder in the system's temporary one that only this user can look into. Where it was not removed it goes with
 * our process, however that ends: by Ctrl-C, because the reader of its output has gone, or by SIGKILL.
 */
export function openScratchFolder(prefix: string): ScratchFolder {
  prepareGuard();
  const path = mkdtempSync(join(resolve(tmpdir()), prefix));
  const release = guardFolder(path);
  return {
    path,
    async remove() {
      // A program that was just stopped may still be writing.
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      release();
    },
  };
}

/** The same for as long as `use` takes. */
export async function withScratchFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = openScratchFolder(prefix);
  try {
    return await use(folder.path);
  } finally {
    await folder.remove();
  }
}
