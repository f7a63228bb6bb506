import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for as long as `use` takes; gone even where the process leaves in the middle, as when its reader has gone. */
export async function withScratchFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const onExit = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', onExit);
  try {
    return await use(folder);
  } finally {
    process.off('exit', onExit);
    await rm(folder, { recursive: true, force: true });
  }
}
