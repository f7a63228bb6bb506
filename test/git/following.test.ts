import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { BACKENDS, openAt, pathsOf, readText } from './support/open.ts';
import { servedOrigins } from './support/served.ts';

const served = servedOrigins();
const { fresh } = served;

for (const backend of BACKENDS) {
  describe(`following a repository through the ${backend} backend`, () => {
    test('reads the files of a branch at its commit, whatever they are called', async (t) => {
      const { origin, name } = await fresh();
      const files = {
        'a.yaml': 'a: 1\n',
        'deep/er/b.yaml': 'b: 2\n',
        // Computed, or it would set the prototype.
        ['__proto__']: 'p',
        'constructor/toString': 'c',
        'ünïcode ☃.txt': 'u',
        empty: '',
      };
      assert.equal(Object.keys(files).length, 6);
      const commit = await origin.commit(files, { message: 'first\n\nwith a body' });
      const repository = await openAt(t, served.folder, served.server, name, { backend });

      const resolved = await repository.resolve({ branch: 'main' });
      assert.deepEqual(resolved, { commit, ref: 'refs/heads/main' });
      await repository.fetch(resolved.commit, resolved.ref);
      for (const [path, content] of Object.entries(files))
        assert.equal(await readText(repository, commit, path), content, path);
      assert.equal(await readText(repository, commit, 'none'), undefined);
      assert.equal(await readText(repository, commit, 'a.yaml/below'), undefined);
      assert.equal(await readText(repository, commit, 'deep'), undefined);
      assert.deepEqual(await pathsOf(repository, commit, './deep/'), ['deep/er', 'deep/er/b.yaml']);
      assert.equal(await repository.tree(commit).id('deep/er'), await origin.git('rev-parse', 'main:deep/er'));
      assert.equal(await repository.tree(commit).id(''), await origin.git('rev-parse', 'main^{tree}'));
      assert.equal(Object.getPrototypeOf({}), Object.prototype);
      const { message, author, committedAt, parents } = await repository.commit(commit);
      assert.deepEqual(
        { message, parents, committedAt },
        { message: 'first\n\nwith a body', parents: [], committedAt: '2023-11-14T22:13:20.000Z' },
      );
      assert.deepEqual(author, { name: 'Ada Lovelace', email: 'ada@example.com' });
    });

    test('finds tags, annotated tags, ranges of versions, commits and the default branch', async (t) => {
      const { origin, name } = await fresh();
      const first = await origin.commit({ a: '1' });
      await origin.git('tag', 'v1.0.0', first);
      const second = await origin.commit({ a: '2' });
      await origin.git(
        '-c',
        'user.name=x',
        '-c',
        'user.email=x@example.com',
        'tag',
        '-a',
        '-m',
        'note',
        'v1.1.0',
        second,
      );
      const third = await origin.commit({ a: '3' }, { branch: 'other' });
      await origin.git('tag', 'unrelated', third);
      const asked: [string[], string][] = [];
      const repository = await openAt(t, served.folder, served.server, name, {
        backend,
        pickTag: (tags, range) => {
          asked.push([tags.toSorted(), range]);
          return 'v1.1.0';
        },
      });

      assert.equal((await repository.resolve({ tag: 'v1.0.0' })).commit, first);
      assert.deepEqual(await repository.resolve({ tag: 'v1.1.0' }), { commit: second, ref: 'refs/tags/v1.1.0' });
      assert.deepEqual(await repository.resolve({ semver: '>=1.0' }), { commit: second, ref: 'refs/tags/v1.1.0' });
      assert.deepEqual(asked, [[['unrelated', 'v1.0.0', 'v1.1.0'], '>=1.0']]);
      assert.deepEqual(await repository.resolve({ commit: first.toUpperCase() }), { commit: first });
      assert.deepEqual(await repository.resolve({}), { commit: second, ref: 'refs/heads/main' });
      for (const spec of [{ tag: 'v1.1.0' }, { commit: first }, { branch: 'other' }]) {
        const { commit, ref } = await repository.resolve(spec);
        await repository.fetch(commit, ref);
        assert.equal((await pathsOf(repository, commit)).join(), 'a');
      }
      const refs = await repository.refs();
      assert.deepEqual(refs.map(({ ref }) => ref).toSorted(), [
        'HEAD',
        'refs/heads/main',
        'refs/heads/other',
        'refs/tags/unrelated',
        'refs/tags/v1.0.0',
        'refs/tags/v1.1.0',
      ]);
      assert.equal(refs.find(({ ref }) => ref === 'refs/tags/v1.1.0')?.peeled, second);
    });

    test('brings only what is new, and nothing when it has the commit', async (t) => {
      const { origin, name } = await fresh();
      const big = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `line ${i} ${Math.sin(i)}\n`).join(''));
      await origin.commit({ big, small: '1' });
      const repository = await openAt(t, served.folder, served.server, name, { backend });
      const one = await repository.resolve({ branch: 'main' });
      await repository.fetch(one.commit, one.ref);
      const before = await repository.maintain();
      await origin.commit({ big, small: '2' });
      const two = await repository.resolve({ branch: 'main' });
      await repository.fetch(two.commit, two.ref);
      const { packs, bytes } = await repository.maintain();
      assert.equal(packs, 2);
      assert.ok(bytes - before.bytes < 2_000, `${bytes - before.bytes} bytes for one small file`);
      const asked = served.server.requests.length;
      await repository.fetch(two.commit, two.ref);
      assert.equal(served.server.requests.length, asked);
      assert.equal(await readText(repository, one.commit, 'small'), '1');
      assert.equal(await readText(repository, two.commit, 'small'), '2');
    });

    test('tells a descendant from rewritten history', async (t) => {
      const { origin, name } = await fresh();
      const root = await origin.commit({ a: '0' });
      const applied = await origin.commit({ a: '1' });
      const repository = await openAt(t, served.folder, served.server, name, { backend });
      await repository.fetch(applied);
      const next = await origin.commit({ a: '2' });
      await repository.fetch(next);
      assert.equal(await repository.isAncestor(applied, next), 'yes');
      assert.equal(await repository.isAncestor(next, next), 'yes');
      assert.equal(await repository.isAncestor(next, applied), 'no');
      const rewritten = await origin.commit({ a: 'other' }, { parent: root });
      const { commit, ref } = await repository.resolve({ branch: 'main' });
      assert.equal(commit, rewritten);
      await repository.fetch(commit, ref);
      assert.equal(await repository.isAncestor(next, rewritten), 'no');
      assert.equal(await repository.isAncestor(root, rewritten), 'yes');
      const unrelated = await origin.commit({ a: 'new' }, { parent: null });
      await repository.fetch(unrelated);
      assert.equal(await repository.isAncestor(rewritten, unrelated), 'no');
    });

    test('asks for more history where that decides, and does not guess past its limit', async (t) => {
      const { origin, name } = await fresh();
      const commits: string[] = [];
      for (let i = 0; i < 12; i += 1) commits.push(await origin.commit({ a: `${i}` }));
      const [oldest = '', young = ''] = [commits[0], commits.at(-1)];
      const near = await openAt(t, served.folder, served.server, name, { backend, limits: { depth: 1, history: 100 } });
      await near.fetch(young);
      assert.deepEqual((await near.commit(young)).parents, [commits.at(-2)]);
      await assert.rejects(near.commit(commits.at(-2) ?? ''), { code: 'GitNotFound' });
      assert.equal(await near.isAncestor(oldest, young), 'yes');
      assert.equal(await near.isAncestor('1'.repeat(40), young), 'no');

      const far = await openAt(t, served.folder, served.server, name, { backend, limits: { depth: 1, history: 5 } });
      await far.fetch(young);
      assert.equal(await far.isAncestor(oldest, young), 'unknown');
      // What was fetched meanwhile is no less complete for it.
      const next = await origin.commit({ a: 'next', b: 'b' });
      await far.fetch(next);
      assert.equal(await far.isAncestor(young, next), 'yes');
      assert.equal(await readText(far, next, 'b'), 'b');
    });

    test('brings back a file of old times, though the server may think that it is here already', async (t) => {
      const { origin, name } = await fresh();
      await origin.commit({ a: 'once' });
      for (let i = 0; i < 5; i += 1) await origin.commit({ a: `${i}` });
      const repository = await openAt(t, served.folder, served.server, name, { backend, limits: { depth: 2 } });
      const now = await repository.resolve({ branch: 'main' });
      await repository.fetch(now.commit, now.ref);
      for (let i = 0; i < 3; i += 1) {
        const commit = await origin.commit({ a: i === 2 ? 'once' : `again ${i}` });
        await repository.fetch(commit, 'refs/heads/main');
        assert.equal(await readText(repository, commit, 'a'), i === 2 ? 'once' : `again ${i}`);
      }
    });

    test('says which branches there are when one is deleted, and that an empty repository is empty', async (t) => {
      const { origin, name } = await fresh();
      const repository = await openAt(t, served.folder, served.server, name, { backend });
      await assert.rejects(repository.resolve({ branch: 'main' }), (error) => {
        assert.ok(isError(error, 'GitRefMissing'));
        assert.match(error.message, /is empty; push a first commit/);
        return error.data.empty === true;
      });
      const commit = await origin.commit({ a: '1' });
      await origin.commit({ a: '2' }, { branch: 'other' });
      await repository.fetch(commit);
      await origin.git('update-ref', '-d', 'refs/heads/main');
      await assert.rejects(repository.resolve({ branch: 'main' }), {
        code: 'GitRefMissing',
        message: /has no branch main; its branches: other\.$/,
      });
      await assert.rejects(repository.resolve({ tag: 'v9' }), {
        code: 'GitRefMissing',
        message: /has no tag v9; its tags: none\.$/,
      });
      await assert.rejects(repository.resolve({}), { code: 'GitRefMissing', message: /has no default branch/ });
      assert.equal(await readText(repository, commit, 'a'), '1');
    });

    test('fetches although the server has no default branch', async (t) => {
      const { origin, name } = await fresh();
      const commit = await origin.commit({ a: '1' }, { branch: 'trunk' });
      const repository = await openAt(t, served.folder, served.server, name, { backend });
      const resolved = await repository.resolve({ branch: 'trunk' });
      await repository.fetch(resolved.commit, resolved.ref);
      assert.equal(await readText(repository, commit, 'a'), '1');
    });

    test('refuses a commit that the server does not have, and one that is no commit', async (t) => {
      const { origin, name } = await fresh();
      await origin.commit({ a: '1' });
      const repository = await openAt(t, served.folder, served.server, name, { backend });
      await assert.rejects(repository.fetch('2'.repeat(40)), { code: 'GitRefMissing' });
      const blob = await origin.git('rev-parse', 'main:a');
      await origin.git('tag', 'file', blob);
      const { commit, ref } = await repository.resolve({ tag: 'file' });
      await assert.rejects(repository.fetch(commit, ref), {
        code: 'GitRefMissing',
        message: /it is a blob|no longer leads/,
      });
      await assert.rejects(repository.resolve({ commit: 'abc123' }), { code: 'GitRefMissing', message: /40 digits/ });
      for (const branch of ['--upload-pack=touch x', 'a b', '../x', 'x.lock', '']) {
        await assert.rejects(
          repository.resolve({ branch }),
          { code: 'GitRefMissing', message: /can't be the name/ },
          branch,
        );
      }
    });

    test('serves many askers at once with one fetch', async (t) => {
      const { origin, name } = await fresh();
      const commit = await origin.commit({ a: '1' });
      const repository = await openAt(t, served.folder, served.server, name, { backend });
      const before = served.server.requests.length;
      await Promise.all(Array.from({ length: 8 }, () => repository.fetch(commit)));
      const posts = served.server.requests.slice(before).filter(({ line }) => line.startsWith('POST'));
      assert.ok(posts.length <= 3, `${posts.length} posts`);
      assert.equal(await readText(repository, commit, 'a'), '1');
    });
  });
}

test('asks for a new commit with two requests, once the server is known, and for a first one when there was none', async (t) => {
  const { origin, name } = await fresh();
  const repository = await openAt(t, served.folder, served.server, name, { backend: 'builtin' });
  await assert.rejects(repository.fetch('0123456789abcdef0123456789abcdef01234567'), { code: 'GitRefMissing' });
  await repository.fetch(await origin.commit({ a: '1' }));
  await repository.resolve({ branch: 'main' });
  for (const text of ['2', '3']) {
    const pushed = await origin.commit({ a: text });
    served.server.requests.length = 0;
    const { commit, ref } = await repository.resolve({ branch: 'main' });
    await repository.fetch(commit, ref);
    assert.equal(commit, pushed);
    assert.equal(await readText(repository, commit, 'a'), text);
    assert.deepEqual(
      served.server.requests.map(({ line }) => line.split(' ')[0]),
      ['POST', 'POST'],
    );
  }
});

test('lets the program git fetch what proved large, where there is one', async (t) => {
  const { origin, name } = await fresh();
  await origin.commit({ a: '1' });
  const limits = { largeBytes: 100 };
  const withGit = await openAt(t, served.folder, served.server, name, { limits });
  const without = await openAt(t, served.folder, served.server, name, { limits, gitPath: null });
  for (const [repository, agents] of [
    [withGit, ['git/espalier', 'git/2']],
    [without, ['git/espalier', 'git/espalier']],
  ] as const) {
    for (const agent of agents) {
      const commit = await origin.commit({ a: `${Math.random()}` });
      served.server.requests.length = 0;
      await repository.fetch(commit, 'refs/heads/main');
      const seen = served.server.requests.map(({ headers }) => `${headers['user-agent']}`.slice(0, agent.length));
      assert.deepEqual(new Set(seen), new Set([agent]));
    }
  }
});
