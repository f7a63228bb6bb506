import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Those in which Gitea does something; what it does in `update` went into `pre-receive` years ago. */
const HOOKS = ['pre-receive', 'post-receive', 'proc-receive'];

/** Where Git finds the hooks of all repositories of one Gitea. */
export function hooksFolder(root: string): string {
  return join(root, 'hooks');
}

/**
 * The scripts that Gitea puts into each repository start four shells and its own program for each of four hooks, also
 * where it pushes to itself and does nothing in them: half a second of the processor for a merge. These do the rest.
 */
export async function writeHooks(root: string, program: string, settings: string): Promise<void> {
  const folder = hooksFolder(root);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const hook of HOOKS) {
    const command = [program, 'hook', '--config', settings, hook].map(quoted).join(' ');
    const script = `#!/bin/sh\n[ "$GITEA_INTERNAL_PUSH" != true ] || exit 0\nexec ${command}\n`;
    await writeFile(join(folder, hook), script, { mode: 0o700 });
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
