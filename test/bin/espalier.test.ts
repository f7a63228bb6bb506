import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from '../support/tempdir.ts';

const script = fileURLToPath(new URL('../../bin/espalier', import.meta.url));

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

function run(
  path: string,
  args: string[],
  env: Record<string, string>,
  onOutput?: (kill: () => void) => void,
): Promise<Ended> {
  const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    onOutput?.(() => child.kill('SIGTERM'));
  });
  child.stderr.on('data', (chunk) => (stderr += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** A checkout whose command line prints its arguments, with or without installed packages. */
async function checkout(t: TestContext, { installed = true, node = '' } = {}): Promise<{ root: string; path: string }> {
  const folder = await tempDir(t);
  const root = join(folder, 'a checkout');
  await mkdir(join(root, 'bin'), { recursive: true });
  await mkdir(join(root, 'src'));
  await cp(script, join(root, 'bin/espalier'));
  await writeFile(
    join(root, 'src/cli.ts'),
    'const args: string[] = process.argv.slice(2); console.log(JSON.stringify(args));',
  );
  if (installed) await mkdir(join(root, 'node_modules/commander'), { recursive: true });
  const path = join(folder, 'path');
  await mkdir(path);
  for (const tool of ['sh', 'readlink', 'dirname', 'echo']) await symlink(`/bin/${tool}`, join(path, tool));
  if (node === 'real') await symlink(process.execPath, join(path, 'node'));
  else if (node !== '') {
    await writeFile(join(path, 'node'), `#!/bin/sh\necho ${node}\n`);
    await chmod(join(path, 'node'), 0o755);
  }
  return { root, path };
}

test('runs the command line with its arguments as they are, also through links to links', async (t) => {
  const { root, path } = await checkout(t, { node: 'real' });
  await symlink(join(root, 'bin/espalier'), join(path, 'one'));
  await symlink('one', join(path, 'two'));
  const { code, stdout } = await run(join(path, 'two'), ['plan', 'a b', '$HOME'], { PATH: path });
  assert.deepEqual([code, JSON.parse(stdout)], [0, ['plan', 'a b', '$HOME']]);
});

test('without a Node it says how to get one', async (t) => {
  const { root, path } = await checkout(t);
  const { code, stderr } = await run(join(root, 'bin/espalier'), [], { PATH: path });
  assert.equal(code, 127);
  assert.match(stderr, /needs Node 24 or newer, and found none in PATH/);
  assert.match(stderr, /npm ci/);
});

test('an old Node is not tried, and named', async (t) => {
  const { root, path } = await checkout(t, { node: '20' });
  const { code, stderr } = await run(join(root, 'bin/espalier'), [], { PATH: path });
  assert.equal(code, 127);
  assert.ok(stderr.includes(join(path, 'node')));
});

test('a checkout whose packages are not installed says so', async (t) => {
  const { root, path } = await checkout(t, { node: 'real', installed: false });
  const { code, stderr } = await run(join(root, 'bin/espalier'), [], { PATH: path });
  assert.equal(code, 127);
  assert.match(stderr, /run "npm ci" in .*a checkout first/);
});

test('a signal reaches the command, not a shell in between', async (t) => {
  const { root, path } = await checkout(t, { node: 'real' });
  const waits = `process.on('SIGTERM', () => process.exit(42)); console.log('up'); setTimeout(() => {}, 20_000);`;
  await writeFile(join(root, 'src/cli.ts'), waits);
  const { code } = await run(join(root, 'bin/espalier'), [], { PATH: path }, (kill) => kill());
  assert.equal(code, 42);
});

test('--help of the real checkout answers', async () => {
  const { code, stdout } = await run(script, ['--help'], { PATH: process.env.PATH ?? '' });
  assert.equal(code, 0);
  assert.match(stdout, /Usage: espalier/);
});
