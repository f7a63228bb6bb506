import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import type { CommitRequest } from '../../src/git/commitonto.ts';
import { type GitServer, startGitServer } from './support/gitserver.ts';
import { BACKENDS, openAt } from './support/open.ts';
import { makeFolder, makeOrigin, type Origin } from './support/origin.ts';
import { hasSshd, startSshd } from './support/sshd.ts';

const ADA = { name: 'Ada Lovelace', email: 'ada@example.com' };
const INSTALL: CommitRequest = {
  branch: 'espalier/install-web',
  message: 'Install web',
  author: ADA,
  change: async () => [{ path: 'extensions/team/web.yaml', content: 'kind: ExtensionInstance\n' }],
};

let folder: Awaited<ReturnType<typeof makeFolder>>;
let server: GitServer;
let readOnly: GitServer;
let names = 0;

before(async () => {
  folder = await makeFolder();
  server = await startGitServer({ root: folder.path, config: { 'http.receivepack': 'true' } });
  readOnly = await startGitServer({ root: folder.path, config: { 'http.receivepack': 'false' } });
});
after(async () => {
  await server.close();
  await readOnly.close();
  await folder.remove();
});

async function fresh(files: Record<string, string>): Promise<{ origin: Origin; name: string; first: string }> {
  const name = `p${names++}.git`;
  const origin = await makeOrigin(folder.path, name);
  return { origin, name, first: await origin.commit(files) };
}

for (const backend of BACKENDS) {
  describe(`pushing through the ${backend} backend`, () => {
    test('makes a commit of the changed files alone, on top of the default branch', async (t) => {
      const { origin, name, first } = await fresh({
        'a.yaml': 'one',
        'b/c.yaml': 'two',
        'd/e.yaml': 'three',
        'd/f': '',
      });
      await origin.git('update-ref', 'refs/heads/other', first);
      const repository = await openAt(t, folder.path, server, name, { backend });
      const made = await repository.commitOnto({
        ...{ message: 'A change', author: ADA },
        async change(tree) {
          assert.equal(Buffer.from((await tree.read('a.yaml')) ?? []).toString(), 'one');
          return [
            { path: 'a.yaml', content: 'ONE ä' },
            { path: 'x/y/z.yaml', content: 'new' },
            { path: 'b/c.yaml', content: undefined },
            { path: 'd/e.yaml', content: undefined },
          ];
        },
      });
      assert.deepEqual(
        { ...made, commit: '' },
        { commit: '', branch: 'main', from: 'main', done: 'pushed', ahead: true },
      );
      assert.equal(await origin.git('rev-parse', 'refs/heads/main'), made.commit);
      assert.equal(await origin.git('rev-parse', 'main^'), first);
      assert.equal(
        await origin.git('diff', '--name-status', 'main^', 'main'),
        'M\ta.yaml\nD\tb/c.yaml\nD\td/e.yaml\nA\tx/y/z.yaml',
      );
      assert.equal(await origin.git('show', 'main:a.yaml'), 'ONE ä');
      assert.equal(
        await origin.git('log', '-1', '--format=%an <%ae> %cn %s', 'main'),
        'Ada Lovelace <ada@example.com> Ada Lovelace A change',
      );
      assert.equal(await origin.git('fsck', '--strict', '--no-dangling'), '');
      assert.equal(await origin.git('rev-parse', 'refs/heads/other'), first);
    });

    test('makes a branch, leaves it where it is when asked again, and starts anew once it was merged', async (t) => {
      const { origin, name } = await fresh({ a: 'one' });
      const repository = await openAt(t, folder.path, server, name, { backend, limits: { depth: 1 } });
      const made = await repository.commitOnto(INSTALL);
      assert.deepEqual([made.branch, made.from, made.done], ['espalier/install-web', 'main', 'pushed']);
      assert.deepEqual(await repository.commitOnto(INSTALL), { ...made, done: 'unchanged' });
      const other = await repository.commitOnto({ ...INSTALL, change: async () => [{ path: 'b', content: 'more' }] });
      assert.equal(await origin.git('rev-parse', `${other.commit}^`), made.commit);
      await origin.git('update-ref', 'refs/heads/main', other.commit);
      const tip = await origin.commit({ a: 'two', b: 'more' });
      const anew = await repository.commitOnto(INSTALL);
      assert.equal(await origin.git('rev-parse', `${anew.commit}^`), tip);
      await origin.git('update-ref', 'refs/heads/main', anew.commit);
      const nothing = await repository.commitOnto(INSTALL);
      assert.deepEqual([nothing.done, nothing.ahead], ['unchanged', false]);
    });

    test('makes its change again on top of what somebody else pushed meanwhile', async (t) => {
      const { origin, name } = await fresh({ a: 'one' });
      const repository = await openAt(t, folder.path, server, name, { backend });
      let asked = 0;
      const made = await repository.commitOnto({
        ...{ message: 'mine', author: ADA },
        async change(tree) {
          asked += 1;
          const text = Buffer.from((await tree.read('a')) ?? []).toString();
          if (asked === 1) await origin.commit({ a: 'theirs', b: 'theirs' });
          return [{ path: 'a', content: `${text} and mine` }];
        },
      });
      assert.equal(asked, 2);
      assert.equal(await origin.git('show', `${made.commit}:a`), 'theirs and mine');
      assert.equal(await origin.git('log', '--format=%s', 'main'), 'mine\na change\na change');
    });

    test('says what the server says when it does not take a push, and that it may be asked with a pull request', async (t) => {
      const { origin, name, first } = await fresh({ a: 'one' });
      const hook = join(origin.dir, 'hooks', 'pre-receive');
      await writeFile(hook, '#!/bin/sh\necho "main is protected here" >&2\nexit 1\n');
      await chmod(hook, 0o755);
      const repository = await openAt(t, folder.path, server, name, { backend });
      await assert.rejects(repository.commitOnto({ ...INSTALL, branch: undefined }), (error: Error) => {
        assert.ok(isError(error, 'GitPushRefused'), String(error));
        assert.match(error.message, /pull request/);
        assert.match(error.message, /declined/);
        if (backend === 'builtin') assert.match(error.message, /main is protected here/);
        return true;
      });
      assert.equal(await origin.git('rev-parse', 'main'), first);
    });

    test('names the right that a login lacks which may only read', async (t) => {
      const { name } = await fresh({ a: 'one' });
      const credentials = { kind: 'basic', username: 'ada', password: 'x' } as const;
      const repository = await openAt(t, folder.path, readOnly, name, { backend, credentials });
      await assert.rejects(repository.commitOnto(INSTALL), (error: Error) => {
        assert.ok(isError(error, 'GitAuthFailed'), String(error));
        if (backend === 'builtin') assert.match(error.message, /may write to the repository/);
        return true;
      });
    });
  });
}

test('never takes a branch away from who pushed to it, though they stand where nobody looked', async (t) => {
  const { origin, name } = await fresh({ a: 'one' });
  const repository = await openAt(t, folder.path, server, name);
  let asked = 0;
  await assert.rejects(
    repository.commitOnto({
      ...INSTALL,
      async change() {
        asked += 1;
        await origin.commit({ theirs: `${asked}` }, { branch: 'espalier/install-web' });
        return [{ path: 'a', content: `mine ${asked}` }];
      },
    }),
    (error) => isError(error, 'GitPushRefused'),
  );
  assert.equal(asked, 5);
  assert.equal(await origin.git('show', 'espalier/install-web:theirs'), '5');
});

test('refuses to write through a link or over a folder', async (t) => {
  const { origin, name } = await fresh({ 'a/b': 'one' });
  const link = await origin.raw('blob', Buffer.from('/etc'));
  const tree = await origin.raw('tree', Buffer.concat([Buffer.from('120000 l\0'), Buffer.from(link, 'hex')]));
  const commit = await origin.git('-c', 'user.name=x', '-c', 'user.email=x@x.x', 'commit-tree', '-m', 'l', tree);
  await origin.git('update-ref', 'refs/heads/linked', commit);
  const repository = await openAt(t, folder.path, server, name);
  for (const [from, path] of [
    ['linked', 'l/passwd'],
    ['linked', 'l'],
    ['main', 'a'],
    ['main', 'a/b/c'],
    ['main', '../up'],
  ] as const) {
    const change = async () => [{ path, content: 'x' }];
    await assert.rejects(repository.commitOnto({ ...INSTALL, from, change }), (error) =>
      isError(error, 'GitUnsafePath'),
    );
  }
});

test('pushes over SSH', { skip: !hasSshd() && 'no sshd' }, async (t) => {
  const own = await makeFolder();
  t.after(() => own.remove());
  const sshd = await startSshd(own.path);
  t.after(() => sshd.close());
  const { origin, name } = await fresh({ a: 'one' });
  const url = `ssh://${sshd.user}@127.0.0.1:${sshd.port}${folder.path}`;
  const { identity, knownHosts } = sshd;
  const repository = await openAt(t, folder.path, { url }, name, {
    credentials: { kind: 'ssh', identity, knownHosts },
  });
  const made = await repository.commitOnto(INSTALL);
  assert.equal(await origin.git('rev-parse', 'espalier/install-web'), made.commit);
});
