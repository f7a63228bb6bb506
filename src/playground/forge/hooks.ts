import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const BY_GITEA = ['pre-receive', 'post-receive', 'proc-receive'];
/** All that Gitea itself does in `update`: what it shows as pull requests is not for people to push. */
const UPDATE = 'case $1 in refs/pull/*) exit 1 ;; esac';

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
  const write = (hook: string, action: string) =>
    writeFile(join(folder, hook), `#!/bin/sh\n[ "$GITEA_INTERNAL_PUSH" != true ] || exit 0\n${action}\n`, {
      mode: 0o700,
    });
  for (const hook of BY_GITEA) {
    await write(hook, `exec ${[program, 'hook', '--config', settings, hook].map(quoted).join(' ')}`);
  }
  await write('update', UPDATE);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
