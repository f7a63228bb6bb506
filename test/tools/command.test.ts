import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { toolNames } from '../../src/tools/table.ts';
import { script, temporaryFolder } from './support/hello.ts';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

test('the list is data on stdout: every program with its version and state', async (t) => {
  const { stdout, stderr, code } = await espalier(await temporaryFolder(t), 'tools', 'list', '-o', 'json');
  assert.deepEqual([code, stderr], [0, '']);
  const states: { name: string; version: string; state: string }[] = JSON.parse(stdout);
  assert.deepEqual(states.map(({ name }) => name).sort(), toolNames().sort());
  const [helm, etcd] = ['helm', 'etcd'].map((wanted) => states.find(({ name }) => name === wanted));
  assert.deepEqual([helm?.version, helm?.state], ['4.3.1', 'on the PATH']);
  assert.notEqual(etcd?.state, 'on the PATH');
});

test('the path of a program is one line, fit for a script', async (t) => {
  const folder = await temporaryFolder(t);
  const { stdout, stderr } = await espalier(folder, 'tools', 'path', 'helm');
  assert.deepEqual([stdout, stderr], [`${join(folder, 'bin/helm')}\n`, '']);
});

test('an unknown name is refused with those that are known', async (t) => {
  const { code, stdout, stderr } = await espalier(await temporaryFolder(t), 'tools', 'install', 'hlem');
  assert.deepEqual([code, stdout], [64, '']);
  assert.match(stderr, /there is no program "hlem"\. Known: .*helm/);
});

/** Runs the command line on a machine that has an empty cache, and a Helm and a wrong etcd on the PATH. */
async function espalier(folder: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  await script(join(folder, 'bin'), 'helm', 'echo v4.3.1');
  await script(join(folder, 'bin'), 'etcd', 'echo etcd Version: 3.5.0');
  const env = { PATH: join(folder, 'bin'), HOME: folder, ESPALIER_CACHE_DIR: join(folder, 'cache') };
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}
