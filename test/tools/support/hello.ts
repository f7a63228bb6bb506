import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cacheAt, cacheFor } from '../../../src/tools/cache.ts';
import { onPath } from '../../../src/tools/executable.ts';
import type { Release } from '../../../src/tools/releases.ts';
import type { Surroundings } from '../../../src/tools/surroundings.ts';
import type { Tool } from '../../../src/tools/table.ts';

const FIXTURES = fileURLToPath(new URL('../fixture/', import.meta.url));

/** A program like those in the table, small enough to be built in a second. Without a release it can only be built. */
export function helloTool(release?: Release, name = 'hello'): Tool {
  return {
    name,
    version: '1.2.3',
    purpose: 'greets',
    ask: { args: [], answer: /^hello v(\S+)$/ },
    offer: { systems: release === undefined ? [] : ['linux', 'darwin'], at: () => release ?? never() },
    recipe: { module: 'hello', package: 'espalier.test/hello', stamp: (version) => ({ 'main.version': version }) },
  };
}

/** A cache of its own, except for what Go compiled before: the standard library need not be compiled for each test. */
export async function emptySurroundings(t: TestContext, goFolder: string): Promise<Surroundings> {
  const root = await temporaryFolder(t);
  const cache = { ...cacheAt(join(root, 'cache')), goBuild: cacheFor(process.env).goBuild };
  const empty = join(root, 'empty');
  await mkdir(empty);
  return {
    env: { PATH: empty, HOME: root },
    cache,
    modules: FIXTURES,
    platform: { os: process.platform, arch: 'amd64' },
    goFolders: [goFolder],
  };
}

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'espalier-tools-')));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Puts a shell script where a program is looked for, and answers its path. */
export async function script(folder: string, name: string, body: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
  return path;
}

export interface WatchedGo {
  folder: string;
  /** How often a build began. */
  builds(): Promise<number>;
  /** While held, a build hangs, with a child of its own. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** The process groups that builds ran in, and the children of held builds. */
  pids(): Promise<number[]>;
}

/** The real Go behind a script that counts builds and can make them hang. */
export async function watchedGo(t: TestContext): Promise<WatchedGo> {
  const folder = await temporaryFolder(t);
  const [real] = await onPath('go', `${process.env.PATH}:/usr/local/go/bin`);
  const log = join(folder, 'log');
  const held = join(folder, 'held');
  const body = [
    `if [ "$1" = build ]; then`,
    `  echo "$$" >> ${log}`,
    `  if [ -e ${held} ]; then /bin/sleep 300 & echo "+$!" >> ${log}; wait; exit 1; fi`,
    'fi',
    `exec ${real ?? 'go'} "$@"`,
  ];
  await script(join(folder, 'bin'), 'go', body.join('\n'));
  const lines = async () => (await readFile(log, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {
    folder: join(folder, 'bin'),
    builds: async () => (await lines()).filter((line) => !line.startsWith('+')).length,
    hold: () => writeFile(held, ''),
    release: () => rm(held, { force: true }),
    pids: async () => (await lines()).map(Number),
  };
}

/** The names in a folder; none when it is not there. */
export function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function never(): never {
  throw new Error('this program is not published');
}
