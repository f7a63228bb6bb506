import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folders that outlive a run. All of it may be deleted while nothing runs; it comes back when needed. */
export interface Cache {
  root: string;
  /** One folder for each program, version and recipe. */
  bin: string;
  /** Half-done installs; whoever holds the lock of an install may delete what it finds there. */
  staging: string;
  locks: string;
  goModules: string;
  goBuild: string;
}

export function cacheAt(root: string): Cache {
  return {
    root,
    bin: join(root, 'bin'),
    staging: join(root, 'staging'),
    locks: join(root, 'locks'),
    goModules: join(root, 'go', 'mod'),
    goBuild: join(root, 'go', 'build'),
  };
}

/** ESPALIER_CACHE_DIR, or `espalier` in XDG_CACHE_HOME, or in `~/.cache`. */
export function cacheFor(env: Readonly<Record<string, string | undefined>>): Cache {
  const { ESPALIER_CACHE_DIR: own, XDG_CACHE_HOME: shared } = env;
  if (own) return cacheAt(resolve(own));
  return cacheAt(join(shared?.startsWith('/') ? shared : join(env.HOME || homedir(), '.cache'), 'espalier'));
}
