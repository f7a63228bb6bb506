import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from './git.ts';

export interface CommitOptions {
  branch?: string;
  message?: string;
  /** Default: the branch's head. `null` starts a history of its own (what a forced push of a rewritten branch does). */
  parent?: string | null;
  /** The whole content; otherwise files are added to the parent's. */
  replace?: boolean;
  /** `Ada <ada@example.com>` */
  author?: string;
}

const SOMEBODY = 'Espalier Playground <playground@espalier.dev>';

/** What a file is to be: its text or bytes, a link, an executable; `null` removes it. */
export type NewFile = string | Uint8Array | null | { link: string } | { executable: string };

/**
 * Commits files straight into a bare repository and returns the commit: one child, no work tree, no push.
 * Paths are written as they are given, hostile ones included.
 */
export async function commitFiles(
  repository: { folder: string },
  files: Record<string, NewFile>,
  options: CommitOptions = {},
): Promise<string> {
  const ref = `refs/heads/${options.branch ?? 'main'}`;
  const head = await headOf(repository.folder, ref);
  const parent = options.parent === undefined ? head : (options.parent ?? '');
  const message = Buffer.from(options.message ?? 'change');
  const seconds = Math.floor(Date.now() / 1000);
  const parts: (string | Uint8Array)[] = [
    `commit ${ref}\nmark :1\ncommitter ${options.author ?? SOMEBODY} ${seconds} +0000\ndata ${message.length}\n`,
    message,
    parent === '' ? '\n' : `\nfrom ${parent}\n`,
    ...(options.replace === true ? ['deleteall\n'] : []),
  ];
  for (const [path, file] of Object.entries(files)) parts.push(...fileLines(path, file));
  parts.push('get-mark :1\ndone\n');
  const stream = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  if (parent === '' && head !== '') await git(repository.folder, ['update-ref', '-d', ref]);
  const args = ['fast-import', '--quiet', '--force', '--done', '--date-format=raw'];
  return await git(repository.folder, args, { input: stream });
}

/** What the branch stands at; empty where there is none. Read from files: a process costs more. */
export async function headOf(folder: string, ref: string): Promise<string> {
  const loose = await readFile(join(folder, ref), 'utf8').catch(() => '');
  if (loose !== '') return loose.trim();
  const packed = await readFile(join(folder, 'packed-refs'), 'utf8').catch(() => '');
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  return line?.split(' ')[0] ?? '';
}

function fileLines(path: string, file: NewFile): (string | Uint8Array)[] {
  const quoted = `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  if (file === null) return [`D ${quoted}\n`];
  const [mode, content] =
    typeof file === 'string' || file instanceof Uint8Array
      ? (['100644', Buffer.from(file)] as const)
      : 'link' in file
        ? (['120000', Buffer.from(file.link)] as const)
        : (['100755', Buffer.from(file.executable)] as const);
  return [`M ${mode} inline ${quoted}\ndata ${content.length}\n`, content, '\n'];
}
