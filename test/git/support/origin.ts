import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A repository as a server holds it, and the means to push to it without a work tree. */
export interface Origin {
  dir: string;
  /** Commits these files (and nothing else) on a branch; the commit's id. `parent: null` starts a history of its own. */
  commit(
    files: Record<string, string | Buffer>,
    options?: { branch?: string; parent?: string | null; message?: string },
  ): Promise<string>;
  git(...args: string[]): Promise<string>;
  /** Writes an object that git itself would refuse to make; its id. */
  raw(type: string, data: Buffer): Promise<string>;
}

export async function makeOrigin(root: string, name: string): Promise<Origin> {
  const dir = join(root, name);
  await run('git', ['init', '--quiet', '--bare', '--initial-branch=main', dir]);
  const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', dir, ...args])).stdout.trim();
  return {
    dir,
    git,
    async commit(files, { branch = 'main', parent, message = 'a change' } = {}) {
      const from =
        parent === undefined
          ? await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => null)
          : parent;
      const parts: Buffer[] = [];
      const line = (text: string): void => void parts.push(Buffer.from(`${text}\n`));
      line('feature done');
      line(`commit refs/heads/${branch}-next`);
      line('committer Ada Lovelace <ada@example.com> 1700000000 +0000');
      line(`data ${Buffer.byteLength(message)}\n${message}`);
      if (from !== null) line(`from ${from}\ndeleteall`);
      for (const [path, content] of Object.entries(files)) {
        const data = Buffer.from(content);
        line(`M 100644 inline ${JSON.stringify(path)}`);
        line(`data ${data.length}`);
        parts.push(data, Buffer.from('\n'));
      }
      line('done');
      // Loose objects are slow to make; a pack for each commit is what a push leaves.
      await feed(
        'git',
        ['-C', dir, '-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet', '--force'],
        Buffer.concat(parts),
      );
      const oid = await git('rev-parse', `refs/heads/${branch}-next`);
      await git('update-ref', `refs/heads/${branch}`, oid);
      await git('update-ref', '-d', `refs/heads/${branch}-next`);
      return oid;
    },
    async raw(type, data) {
      return (await feed('git', ['-C', dir, 'hash-object', '-w', '--literally', '-t', type, '--stdin'], data)).trim();
    },
  };
}

export async function feed(program: string, args: string[], input: Buffer): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${Buffer.concat(err).toString()}`);
  return Buffer.concat(out).toString();
}

/** A folder for one test file, gone when `remove` is called. */
export async function makeFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'espalier-git-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** A tree object's bytes from entries in the given order, whatever their names. */
export function treeBytes(entries: [mode: string, name: string | Buffer, oid: string][]): Buffer {
  return Buffer.concat(
    entries.flatMap(([mode, name, oid]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(oid, 'hex'),
    ]),
  );
}

export function commitBytes(tree: string, parents: string[] = []): Buffer {
  const who = 'Ada Lovelace <ada@example.com> 1700000000 +0000';
  return Buffer.from(
    `tree ${tree}\n${parents.map((parent) => `parent ${parent}\n`).join('')}author ${who}\ncommitter ${who}\n\nodd\n`,
  );
}
