import { rm } from 'node:fs/promises';
import { indexPack } from './indexpack.ts';
import { packFolder, placePack, temporaryPath } from './layout.ts';
import type { GitLimits } from './limits.ts';
import { PackSink } from './packsink.ts';

/** Puts a pack of our own making beside those that were fetched. Nobody else may write to the store meanwhile. */
export async function storePack(dir: string, pack: Buffer, limits: GitLimits, signal: AbortSignal): Promise<void> {
  const path = temporaryPath(packFolder(dir));
  const sink = new PackSink(path, limits);
  try {
    await sink.write(pack);
    const received = await sink.finish();
    if (received !== undefined) await placePack(dir, received.path, await indexPack(received, limits, signal));
  } finally {
    await sink.drop();
    await rm(path, { force: true });
  }
}
