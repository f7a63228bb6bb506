import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { PROPOSAL_LIMITS } from '../../src/git/limits.ts';
import { BACKENDS, openAt, readText } from './support/open.ts';
import { feed, type Origin } from './support/origin.ts';
import { servedOrigins } from './support/served.ts';

const run = promisify(execFile);

const served = servedOrigins();
const { fresh } = served;

/** A pull request as a forge holds it: a commit that only `refs/pull/N/head` leads to. */
async function propose(
  origin: Origin,
  number: number,
  files: Record<string, string | Buffer>,
  parent: string | null,
): Promise<{ commit: string; ref: string; name: string }> {
  const commit = await origin.commit(files, { branch: 'topic', parent });
  const ref = `refs/pull/${number}/head`;
  await origin.git('update-ref', ref, commit);
  await origin.git('update-ref', '-d', 'refs/heads/topic');
  return { commit, ref, name: `pull-${number}` };
}

async function storedBytes(dir: string): Promise<number> {
  let bytes = 0;
  const packs = join(dir, 'objects', 'pack');
  for (const file of await readdir(packs)) if (file.endsWith('.pack')) bytes += (await stat(join(packs, file))).size;
  return bytes;
}

async function isStored(dir: string, oid: string): Promise<boolean> {
  return run('git', ['-C', dir, 'cat-file', '-e', oid]).then(
    () => true,
    () => false,
  );
}

for (const backend of BACKENDS) {
  describe(`pull requests through the ${backend} backend`, () => {
    const options = { backend, limits: PROPOSAL_LIMITS };

    test('many heads and their base are there at once, and stay when the store is rebuilt', async (t) => {
      const { origin, name } = await fresh();
      const shared = { a: '1\n2\n3\n4\n5\n', b: 'b' };
      const fork = await origin.commit(shared);
      const base = await origin.commit({ ...shared, b: 'base' });
      const heads = [];
      for (let i = 1; i <= 5; i += 1)
        heads.push(await propose(origin, i, { ...shared, a: `1\n2\n3\n4\nPR ${i}\n` }, fork));
      const repository = await openAt(t, served.folder, served.server, name, options);
      await repository.fetch(base, 'refs/heads/main', { keep: 'base-main' });
      for (const { commit, ref, name: keep } of heads) await repository.fetch(commit, ref, { keep });

      for (const force of [false, true]) {
        if (force) await repository.maintain({ force });
        for (const [i, { commit }] of heads.entries()) {
          assert.deepEqual(await repository.mergeBase(base, commit), { state: 'found', commit: fork });
          const { tree, id, conflicts } = await repository.merge(base, commit, fork);
          assert.deepEqual(conflicts, []);
          assert.equal(Buffer.from((await tree.read('a')) ?? []).toString(), `1\n2\n3\n4\nPR ${i + 1}\n`);
          assert.equal(Buffer.from((await tree.read('b')) ?? []).toString(), 'base');
          assert.equal(id, (await origin.git('merge-tree', '--write-tree', base, commit)).trim());
        }
      }
      assert.deepEqual(
        await repository.kept(),
        new Map([['base-main', base], ...heads.map(({ name: keep, commit }) => [keep, commit] as const)]),
      );
      assert.equal(await repository.treeId(base), await origin.git('rev-parse', `${base}^{tree}`));
      await run('git', ['-C', repository.dir, 'fsck', '--full', '--no-dangling']);
    });

    test('an unchanged one costs no request, and names outlive a restart', async (t) => {
      const { origin, name } = await fresh();
      const base = await origin.commit({ a: '1' });
      const pull = await propose(origin, 3, { a: '2' }, base);
      const repository = await openAt(t, served.folder, served.server, name, options);
      await repository.fetch(pull.commit, pull.ref, { keep: pull.name });
      await repository.close();
      const again = await openAt(t, served.folder, served.server, name, { ...options, dir: repository.dir });
      served.server.requests.length = 0;
      await again.fetch(pull.commit, pull.ref, { keep: pull.name });
      // The base came along as history.
      await again.fetch(base, 'refs/heads/main', { keep: 'base' });
      assert.deepEqual(served.server.requests, []);
      assert.deepEqual(
        await again.kept(),
        new Map([
          ['base', base],
          [pull.name, pull.commit],
        ]),
      );
    });

    test('only what is new is brought for a push to one, and a forced push replaces it', async (t) => {
      const { origin, name } = await fresh();
      const big = randomBytes(100_000);
      const base = await origin.commit({ big, a: '1' });
      const first = await propose(origin, 3, { big, a: '2' }, base);
      const repository = await openAt(t, served.folder, served.server, name, options);
      await repository.fetch(base, 'refs/heads/main', { keep: 'base' });
      const before = await storedBytes(repository.dir);
      await repository.fetch(first.commit, first.ref, { keep: first.name });
      const forced = await propose(origin, 3, { big, a: '3' }, base);
      await repository.fetch(forced.commit, forced.ref, { keep: forced.name });
      assert.equal(await readText(repository, forced.commit, 'a'), '3');
      const grown = (await storedBytes(repository.dir)) - before;
      assert.ok(grown < 5_000, `${grown} bytes for two small changes`);
      await repository.maintain({ force: true });
      assert.equal(await isStored(repository.dir, forced.commit), true);
      assert.equal(await isStored(repository.dir, first.commit), false);
    });

    test("a closed one's objects go and the others stay; after the last the store is empty", async (t) => {
      const { origin, name } = await fresh();
      const base = await origin.commit({ a: '1' });
      const [one, two] = [
        await propose(origin, 1, { a: 'one' }, base),
        await propose(origin, 2, { a: '1', big: randomBytes(200_000) }, base),
      ];
      const repository = await openAt(t, served.folder, served.server, name, options);
      for (const { commit, ref, name: keep } of [one, two]) await repository.fetch(commit, ref, { keep });
      const tree = repository.tree(two.commit);
      assert.equal((await tree.list('')).length, 2);
      await repository.drop([two.name, 'pull-99']);
      assert.ok((await storedBytes(repository.dir)) < 10_000);
      assert.equal(await isStored(repository.dir, two.commit), false);
      assert.equal(await readText(repository, one.commit, 'a'), 'one');
      // Whoever still reads it is told, and the store is none the worse for it.
      await assert.rejects(tree.read('big'), { code: 'GitNotFound' });
      served.server.requests.length = 0;
      await repository.fetch(one.commit, one.ref, { keep: one.name });
      assert.deepEqual(served.server.requests, []);

      await repository.drop([one.name]);
      assert.equal(await storedBytes(repository.dir), 0);
      assert.deepEqual(await repository.kept(), new Map());
      await repository.fetch(two.commit, two.ref, { keep: two.name });
      assert.equal(await readText(repository, two.commit, 'a'), '1');
    });

    test('a head that was moved in between is said to be gone, and the next look finds the new one', async (t) => {
      const { origin, name } = await fresh();
      const base = await origin.commit({ a: '1' });
      const seen = await propose(origin, 3, { a: 'seen' }, base);
      const moved = await propose(origin, 3, { a: 'moved' }, base);
      await origin.git('reflog', 'expire', '--expire=now', '--all');
      await origin.git('repack', '-adq');
      const repository = await openAt(t, served.folder, served.server, name, options);
      await assert.rejects(repository.fetch(seen.commit, seen.ref, { keep: seen.name }), { code: 'GitRefMissing' });
      assert.deepEqual(await repository.kept(), new Map());
      const [now] = await repository.refs([seen.ref]);
      assert.equal(now?.oid, moved.commit);
      await repository.fetch(moved.commit, moved.ref, { keep: moved.name });
      assert.equal(await readText(repository, moved.commit, 'a'), 'moved');
    });

    test('the commit that is followed is not disturbed by those that are kept', async (t) => {
      const { origin, name } = await fresh();
      const base = await origin.commit({ a: '1' });
      const pull = await propose(origin, 3, { a: '2' }, base);
      const repository = await openAt(t, served.folder, served.server, name, options);
      await repository.fetch(base, 'refs/heads/main');
      await repository.fetch(pull.commit, pull.ref, { keep: pull.name });
      const next = await origin.commit({ a: '3' });
      await repository.fetch(next, 'refs/heads/main');
      await repository.drop([pull.name]);
      assert.equal(await readText(repository, next, 'a'), '3');
      assert.equal(await readText(repository, base, 'a'), '1');
      assert.equal(await isStored(repository.dir, pull.commit), false);
    });

    test('more history is fetched where two branches parted long ago, up to the limit', async (t) => {
      const { origin, name } = await fresh();
      const fork = await origin.commit({ a: '0' });
      const parts = ['feature done\n'];
      for (const branch of ['main', 'topic']) {
        for (let i = 0; i < 60; i += 1) {
          parts.push(
            `commit refs/heads/${branch}\ncommitter A <a@example.com> ${1_700_000_000 + i} +0000\ndata 1\nc\n`,
          );
          if (i === 0) parts.push(`from ${fork}\n`);
          parts.push(`M 100644 inline ${branch}\ndata ${`${i}`.length}\n${i}\n`);
        }
      }
      await feed('git', ['-C', origin.dir, 'fast-import', '--quiet'], Buffer.from(`${parts.join('')}done\n`));
      const [main, topic] = [await origin.git('rev-parse', 'main'), await origin.git('rev-parse', 'topic')];
      const near = await openAt(t, served.folder, served.server, name, { backend, limits: { depth: 7, history: 500 } });
      const far = await openAt(t, served.folder, served.server, name, { backend, limits: { depth: 2, history: 30 } });
      for (const repository of [near, far]) {
        await repository.fetch(main, 'refs/heads/main', { keep: 'base' });
        await repository.fetch(topic, 'refs/heads/topic', { keep: 'pull-1' });
      }
      assert.deepEqual(await near.mergeBase(main, topic), { state: 'found', commit: fork });
      assert.deepEqual(await far.mergeBase(main, topic), { state: 'unknown' });
      const way = await near.firstParents(topic, fork, 100);
      assert.deepEqual([way.length, way.at(-1)?.parents], [60, [fork]]);
      assert.equal((await near.firstParents(topic, fork, 5)).length, 5);
      // What has nothing in common needs no limit to say so.
      const stranger = await origin.commit({ z: 'z' }, { branch: 'stranger', parent: null });
      await near.fetch(stranger, 'refs/heads/stranger', { keep: 'pull-2' });
      assert.deepEqual(await near.mergeBase(main, stranger), { state: 'none' });
    });
  });
}

test('a store that is full refuses more proposals until one is dropped', async (t) => {
  const { origin, name } = await fresh();
  const base = await origin.commit({ a: '1' });
  const repository = await openAt(t, served.folder, served.server, name, { limits: { storeBytes: 150_000 } });
  const pulls = [];
  for (let i = 1; i <= 3; i += 1) pulls.push(await propose(origin, i, { big: randomBytes(100_000) }, base));
  const [one, two, three] = pulls;
  assert.ok(one !== undefined && two !== undefined && three !== undefined);
  for (const pull of [one, two]) await repository.fetch(pull.commit, pull.ref, { keep: pull.name });
  await assert.rejects(repository.fetch(three.commit, three.ref, { keep: three.name }), { code: 'GitTooLarge' });
  await repository.drop([one.name]);
  await repository.fetch(three.commit, three.ref, { keep: three.name });
  assert.deepEqual([...(await repository.kept()).keys()], [two.name, three.name]);
});

test('without the program git, rebuilding keeps every head with all that it needs', async (t) => {
  const { origin, name } = await fresh();
  const base = await origin.commit({ a: '1', shared: 'shared' });
  const repository = await openAt(t, served.folder, served.server, name, {
    backend: 'builtin',
    gitPath: null,
    limits: { packs: 2, depth: 3 },
    onWarning: (error) => assert.fail(String(error)),
  });
  await repository.fetch(base, 'refs/heads/main', { keep: 'base' });
  const heads = [];
  for (let i = 1; i <= 6; i += 1) {
    const pull = await propose(origin, i, { a: `${i}`, shared: 'shared' }, base);
    heads.push(pull);
    await repository.fetch(pull.commit, pull.ref, { keep: pull.name });
  }
  await repository.drop(['pull-2', 'pull-4']);
  assert.equal((await repository.maintain({ force: true })).done, 'refetched');
  // Once more: the server sends the very packs that are there.
  await repository.maintain({ force: true });
  await run('git', ['-C', repository.dir, 'fsck', '--full', '--no-dangling']);
  for (const [i, { commit }] of heads.entries()) {
    const dropped = i === 1 || i === 3;
    assert.equal(await isStored(repository.dir, commit), !dropped, `pull request ${i + 1}`);
    if (!dropped) assert.equal(await readText(repository, commit, 'shared'), 'shared');
  }
});

test('finds the merge base that git names, newest first, in a stored history of 10,000 commits', async (t) => {
  const { origin, name } = await fresh();
  const parts = ['feature done\n'];
  const commit = (branch: string, mark: number, at: number, from: string, merge?: string): void => {
    parts.push(`commit refs/heads/${branch}\nmark :${mark}\ncommitter A <a@example.com> ${at} +0000\ndata 1\nc\n`);
    if (from !== '') parts.push(`from ${from}\n`);
    if (merge !== undefined) parts.push(`merge ${merge}\n`);
    parts.push(`M 100644 inline f\ndata ${`${mark}`.length}\n${mark}\n`);
  };
  for (let i = 1; i <= 10_000; i += 1) commit('main', i, 1_700_000_000 + i, i === 1 ? '' : `:${i - 1}`);
  // Two branches that were merged into each other: two bases.
  commit('x', 10_001, 1_700_010_001, ':9000');
  commit('y', 10_002, 1_700_010_002, ':9000');
  commit('xy', 10_003, 1_700_010_003, ':10001', ':10002');
  commit('yx', 10_004, 1_700_010_004, ':10002', ':10001');
  commit('old', 10_005, 1_700_010_005, ':3');
  await feed('git', ['-C', origin.dir, 'fast-import', '--quiet'], Buffer.from(`${parts.join('')}done\n`));
  const repository = await openAt(t, served.folder, served.server, name, {
    limits: { depth: 20_000, history: 20_000 },
  });
  const tips: Record<string, string> = {};
  for (const branch of ['main', 'xy', 'yx', 'old']) {
    const tip = await origin.git('rev-parse', branch);
    tips[branch] = tip;
    await repository.fetch(tip, `refs/heads/${branch}`, { keep: branch });
  }
  for (const [a = '', b = ''] of [
    ['main', 'old'],
    ['xy', 'yx'],
    ['yx', 'xy'],
    ['xy', 'main'],
    ['main', 'main'],
  ]) {
    const started = performance.now();
    const theirs = await origin.git('merge-base', a, b);
    assert.deepEqual(
      await repository.mergeBase(tips[a] ?? '', tips[b] ?? ''),
      { state: 'found', commit: theirs },
      `${a} ${b}`,
    );
    t.diagnostic(`${a} and ${b}: ${Math.round(performance.now() - started)} ms`);
  }
});

test('what a name may be is the caller’s word, never a path', async (t) => {
  const { origin, name } = await fresh();
  const commit = await origin.commit({ a: randomUUID() });
  const repository = await openAt(t, served.folder, served.server, name);
  for (const keep of ['../head', 'a/b', '', '.', 'x.lock', 'tmp_x y'])
    await assert.rejects(repository.fetch(commit, undefined, { keep }), { code: 'Internal' }, keep);
});
