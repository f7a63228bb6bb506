import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { folderTree } from '../../src/git/foldertree.ts';
import { materialise } from '../../src/git/materialise.ts';
import type { GitRepository } from '../../src/git/repository.ts';
import { type GitServer, startGitServer } from './support/gitserver.ts';
import { openAt, pathsOf } from './support/open.ts';
import { commitBytes, makeFolder, makeOrigin, type Origin, treeBytes } from './support/origin.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let server: GitServer;
let origin: Origin;
let blob: string;
let count = 0;

before(async () => {
  folder = await makeFolder();
  server = await startGitServer({ root: folder.path });
  origin = await makeOrigin(folder.path, 'odd.git');
  blob = await origin.raw('blob', Buffer.from('content'));
});
after(async () => {
  await server.close();
  await folder.remove();
});

type Entries = [mode: string, name: string | Buffer, oid: string][];

/** Fetches a commit whose root is this very tree, however odd, as a hostile server would offer it. */
async function fetchTree(
  t: { after(step: () => Promise<void>): void },
  entries: Entries,
): Promise<{ repository: GitRepository; commit: string }> {
  const commit = await origin.raw('commit', commitBytes(await origin.raw('tree', treeBytes(entries))));
  await origin.git('update-ref', 'refs/heads/main', commit);
  const repository = await openAt(t as never, folder.path, server, 'odd.git', { backend: 'builtin' });
  await repository.fetch(commit);
  return { repository, commit };
}

function destination(): string {
  return join(folder.path, `out-${count++}`);
}

describe('writing a folder for programs that need one', () => {
  test('writes the files, none of them executable, and counts them', async (t) => {
    const inner = await origin.raw('tree', treeBytes([['100755', 'run.sh', blob]]));
    const { repository, commit } = await fetchTree(t, [
      ['100644', '__proto__', blob],
      ['100644', 'a.yaml', blob],
      ['40000', 'constructor', inner],
    ]);
    const out = destination();
    assert.deepEqual(await materialise(repository.tree(commit), '', out), { files: 3, bytes: 21 });
    assert.deepEqual((await readdir(out, { recursive: true })).toSorted(), [
      '__proto__',
      'a.yaml',
      'constructor',
      'constructor/run.sh',
    ]);
    assert.equal(await readFile(join(out, 'constructor/run.sh'), 'utf8'), 'content');
    assert.equal((await stat(join(out, 'constructor/run.sh'))).mode & 0o111, 0);
    const part = destination();
    assert.deepEqual(await materialise(repository.tree(commit), './constructor', part), { files: 1, bytes: 7 });
    await assert.rejects(materialise(repository.tree(commit), 'none', destination()), { code: 'SourceMissing' });
    await assert.rejects(materialise(repository.tree(commit), '../x', destination()), { code: 'GitUnsafePath' });
  });

  for (const name of [
    '..\\x',
    '..',
    '.',
    '.git',
    '.GIT',
    '.Git ',
    'git~1',
    '.g\u200cit',
    'a/b',
    'a\\b',
    'tab\there',
    'con',
    'nul.txt',
    Buffer.from([0xff, 0xfe]),
  ]) {
    test(`S5: refuses a file named ${JSON.stringify(name.toString())} and leaves nothing behind`, async (t) => {
      const { repository, commit } = await fetchTree(t, [
        ['100644', 'a', blob],
        ['100644', name, blob],
      ]);
      const out = destination();
      await assert.rejects(materialise(repository.tree(commit), '', out), { code: 'GitUnsafePath' });
      await assert.rejects(stat(out), { code: 'ENOENT' });
    });
  }

  test('S5: refuses .git/hooks, whatever folder it is in', async (t) => {
    const hooks = await origin.raw('tree', treeBytes([['100755', 'post-checkout', blob]]));
    const git = await origin.raw('tree', treeBytes([['40000', 'hooks', hooks]]));
    const inner = await origin.raw('tree', treeBytes([['40000', '.git', git]]));
    const { repository, commit } = await fetchTree(t, [['40000', 'charts', inner]]);
    await assert.rejects(materialise(repository.tree(commit), 'charts', destination()), {
      code: 'GitUnsafePath',
      message: /Git's own folder/,
    });
  });

  test('refuses links and submodules, to write and to read through', async (t) => {
    const target = await origin.raw('blob', Buffer.from('/etc'));
    for (const [mode, oid, what] of [
      ['120000', target, /a link/],
      ['160000', '3'.repeat(40), /a submodule/],
    ] as const) {
      const { repository, commit } = await fetchTree(t, [
        ['100644', 'a', blob],
        [mode, 'way', oid],
      ]);
      const tree = repository.tree(commit);
      await assert.rejects(materialise(tree, '', destination()), { code: 'GitUnsafePath', message: what });
      await assert.rejects(tree.read('way'), { code: 'GitUnsafePath', message: what });
      await assert.rejects(tree.read('way/passwd'), { code: 'GitUnsafePath', message: what });
      await assert.rejects(tree.list('way'), { code: 'GitUnsafePath', message: what });
      assert.deepEqual(
        (await tree.list('')).map(({ type }) => type),
        ['file', what.source === 'a link' ? 'link' : 'submodule'],
      );
    }
  });

  test('refuses names that are one name on some file systems', async (t) => {
    const { repository, commit } = await fetchTree(t, [
      ['100644', 'Values.yaml', blob],
      ['100644', 'values.yaml', blob],
    ]);
    await assert.rejects(materialise(repository.tree(commit), '', destination()), {
      code: 'GitUnsafePath',
      message: /only in case/,
    });
  });

  test('bounds files, bytes, depth, and what a tiny repository unfolds to', async (t) => {
    // Ten folders that each hold the one below ten times: 10^10 files in a kilobyte.
    let tree = await origin.raw('tree', treeBytes(Array.from({ length: 10 }, (_, i) => ['100644', `f${i}`, blob])));
    for (let level = 0; level < 9; level += 1) {
      const below = tree;
      tree = await origin.raw('tree', treeBytes(Array.from({ length: 10 }, (_, i) => ['40000', `d${i}`, below])));
    }
    const { repository, commit } = await fetchTree(t, [['40000', 'bomb', tree]]);
    const bomb = repository.tree(commit);
    const out = destination();
    await assert.rejects(materialise(bomb, '', out, { files: 50 }), {
      code: 'GitTooLarge',
      message: /more than 50 files/,
    });
    await assert.rejects(materialise(bomb, '', out, { bytes: 100 }), {
      code: 'GitTooLarge',
      message: /more than 100 bytes/,
    });
    await assert.rejects(materialise(bomb, '', out, { depth: 3 }), { code: 'GitTooLarge', message: /deeper than 3/ });
    await assert.rejects(stat(out), { code: 'ENOENT' });
    await assert.rejects(pathsOf(repository, commit), { code: 'GitTooLarge' });
  });
});

describe('a plain folder as a tree', () => {
  test('has the ids that git would give it', async () => {
    const dir = join(folder.path, 'plain');
    await mkdir(join(dir, 'sub/empty'), { recursive: true });
    await mkdir(join(dir, 'sub.d'));
    await mkdir(join(dir, '.git'));
    await writeFile(join(dir, '.git/HEAD'), 'x');
    await writeFile(join(dir, 'sub/a.txt'), 'a');
    await writeFile(join(dir, 'sub.d/b.txt'), 'b');
    await writeFile(join(dir, 'run.sh'), 'r', { mode: 0o755 });
    await symlink('/etc/passwd', join(dir, 'sub/out'));
    const committed = await origin.raw('blob', Buffer.from('a'));
    const sub = await origin.raw(
      'tree',
      treeBytes([
        ['100644', 'a.txt', committed],
        ['120000', 'out', await origin.raw('blob', Buffer.from('/etc/passwd'))],
      ]),
    );
    const subd = await origin.raw('tree', treeBytes([['100644', 'b.txt', await origin.raw('blob', Buffer.from('b'))]]));
    const root = await origin.raw(
      'tree',
      treeBytes([
        ['100755', 'run.sh', await origin.raw('blob', Buffer.from('r'))],
        ['40000', 'sub.d', subd],
        ['40000', 'sub', sub],
      ]),
    );
    const tree = folderTree(dir);
    assert.equal(await tree.id(''), root);
    assert.equal(await tree.id('sub'), sub);
    assert.deepEqual(
      (await Array.fromAsync(tree.walk(''))).map(({ path }) => path),
      ['run.sh', 'sub.d', 'sub.d/b.txt', 'sub', 'sub/a.txt', 'sub/out'],
    );
    assert.equal(Buffer.from((await tree.read('/sub/a.txt')) ?? []).toString(), 'a');
    assert.equal(await tree.read('sub/none'), undefined);
    assert.equal(await tree.read('.git/HEAD'), undefined);
    assert.equal(await tree.read('sub'), undefined);
    await assert.rejects(tree.read('sub/out'), { code: 'GitUnsafePath' });
    await assert.rejects(tree.read('../odd.git/HEAD'), { code: 'GitUnsafePath' });
  });

  test('never leaves the folder through a link to another', async () => {
    const dir = join(folder.path, 'linked');
    await mkdir(dir);
    await symlink(folder.path, join(dir, 'out'));
    const tree = folderTree(dir);
    await assert.rejects(tree.read('out/odd.git/HEAD'), {
      code: 'GitUnsafePath',
      message: /a link, which is not followed/,
    });
    await assert.rejects(tree.list('out'), { code: 'GitUnsafePath' });
    await assert.rejects(materialise(tree, '', destination()), { code: 'GitUnsafePath' });
  });
});
