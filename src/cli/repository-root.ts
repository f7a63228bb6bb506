import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The repository that a folder is in, or will be; undefined without one. */
export async function repositoryRoot(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await stat(join(at, '.git')).catch(() => undefined)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}
