import { fileURLToPath } from 'node:url';
import { type Cache, cacheFor } from './cache.ts';
import { type Platform, thisPlatform } from './platform.ts';

/** All that getting a program depends on, besides the program. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cache: Cache;
  /** The folder of Go modules, one for each recipe. */
  modules: string;
  platform: Platform;
  /** Where Go usually is; looked into after the PATH. */
  goFolders: readonly string[];
  /** Leads downloads elsewhere; who sets it answers for where. */
  rewriteUrl?: ((url: URL) => URL) | undefined;
}

const GO_FOLDERS = ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin'];

export function surroundingsOf(env: Readonly<Record<string, string | undefined>> = process.env): Surroundings {
  const modules = fileURLToPath(new URL('../../tools/', import.meta.url));
  return { env, cache: cacheFor(env), modules, platform: thisPlatform(), goFolders: GO_FOLDERS };
}
