import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { branchOfCheckout, commitInCheckout } from '../../src/git/checkout.ts';
import { tempDir } from '../support/tempdir.ts';

const run = promisify(execFile);
const ADA = { name: 'Ada Lovelace', email: 'ada@example.com' };

test('a commit in a checkout holds the files that it is about, and leaves what a person is at as it is', async (t) => {
  const dir = await tempDir(t);
  const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', dir, ...args])).stdout.trimEnd();
  const file = (name: string): string => join(dir, name);
  await git('init', '-q', '-b', 'main');
  await git('config', 'user.name', 'Grace');
  await git('config', 'user.email', 'grace@example.com');
  for (const name of ['staged', 'edited', 'mine', 'gone']) await writeFile(file(name), 'one\n');
  await git('add', '.');
  await git('commit', '-q', '-m', 'first');
  await writeFile(file('staged'), 'two\n');
  await git('add', 'staged');
  await writeFile(file('edited'), 'two\n');
  await writeFile(file('new'), 'new\n');
  const left = await git('status', '--porcelain');

  assert.equal(await branchOfCheckout(dir), 'main');
  const changes = [
    { path: 'mine', content: 'three\n' },
    { path: 'a/b/c.yaml', content: 'made\n' },
    { path: 'gone', content: undefined },
  ];
  const commit = await commitInCheckout(dir, { changes, message: 'Install web', author: ADA });
  assert.equal(await git('rev-parse', 'main'), commit);
  assert.equal(await git('log', '-1', '--format=%an %ae %cn %s'), 'Ada Lovelace ada@example.com Grace Install web');
  assert.equal(await git('diff', '--name-status', 'HEAD^', 'HEAD'), 'A\ta/b/c.yaml\nD\tgone\nM\tmine');
  assert.equal(await git('status', '--porcelain'), left);

  // What is not committed would go into a commit that is about something else.
  for (const path of ['edited', 'staged', 'new']) {
    const edit = { changes: [{ path, content: 'x' }], message: 'x' };
    await assert.rejects(commitInCheckout(dir, edit), new RegExp(`${path} .*has changes that are not committed`));
  }
  await symlink('/etc', file('link'));
  await assert.rejects(commitInCheckout(dir, { changes: [{ path: 'link/x', content: 'x' }], message: 'x' }), /a link/);

  await writeFile(file('.git/hooks/pre-commit'), '#!/bin/sh\necho "no commits on Fridays" >&2\nexit 1\n');
  await chmod(file('.git/hooks/pre-commit'), 0o755);
  const refused = {
    changes: [
      { path: 'mine', content: 'four\n' },
      { path: 'other', content: 'x' },
    ],
    message: 'x',
  };
  await assert.rejects(commitInCheckout(dir, refused), /no commits on Fridays/);
  assert.equal(await readFile(file('mine'), 'utf8'), 'three\n');
  await assert.rejects(stat(file('other')));
  assert.equal(await git('status', '--porcelain'), left.replace('?? new', '?? link\n?? new'));
});

test('a folder that is no checkout is told from one, and so is one of nobody', async (t) => {
  const dir = await tempDir(t);
  await mkdir(join(dir, 'sub'));
  await assert.rejects(branchOfCheckout(join(dir, 'sub')), /is not in a Git checkout.*URL/);
});
