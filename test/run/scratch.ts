import { accessSync, constants, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPrivateFolder, removeFolder, sweepFolders } from '../../src/playground/folder.ts';

const MEMORY = '/dev/shm';
/** A run leaves less than one at its fullest. */
const NEEDED_GIB = 4;
const GIB = 2 ** 30;

/**
 * A folder for everything that a run writes and throws away, in memory where there is plenty of it: what a thousand small
 * repositories cost is not their bytes but the file system's journal. Undefined where the usual place has to do.
 */
export async function openScratch(env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  if (env.TMPDIR !== undefined || !hasRoom()) return undefined;
  try {
    // A run that was cut off leaves its folder.
    await sweepFolders(MEMORY);
    const folder = await createPrivateFolder(MEMORY);
    if (mayRunPrograms(folder)) return folder;
    await removeFolder(folder);
  } catch {
    // Not ours to write.
  }
  return undefined;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= NEEDED_GIB * GIB && process.availableMemory() >= 2 * NEEDED_GIB * GIB;
  } catch {
    return false;
  }
}

/** Tests write programs and run them. */
function mayRunPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
