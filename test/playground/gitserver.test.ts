import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '../../src/playground/authority.ts';
import { git } from '../../src/playground/git.ts';
import { headerFor } from '../../src/playground/gitaccess.ts';
import type { Push } from '../../src/playground/gitserver.ts';
import { eventually } from '../support/eventually.ts';
import { clone, commitFiles, testGitServer } from '../support/gitserver.ts';
import { tempDir } from '../support/tempdir.ts';

test('a repository seeded from a folder is cloned with its content, and what it ignores stays out', async (t) => {
  const seed = await tempDir(t);
  await mkdir(join(seed, 'apps'));
  await writeFile(join(seed, 'apps', 'web.yaml'), 'kind: Plugin\n');
  await writeFile(join(seed, '.gitignore'), '*.log\n');
  await writeFile(join(seed, 'noise.log'), 'x');
  const server = await testGitServer(t);
  const repository = await server.createRepository('team/platform', { seed });

  const work = await clone(t, repository.url);

  assert.equal(await readFile(join(work, 'apps/web.yaml'), 'utf8'), 'kind: Plugin\n');
  await assert.rejects(readFile(join(work, 'noise.log')));
  assert.equal(await git(work, ['rev-parse', 'HEAD']), repository.commit);
});

test('a push is taken and told with the refs it changed: new, moved, forced, deleted', async (t) => {
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  const pushes: Push[] = [];
  server.onPush((push) => pushes.push(push));
  const first = await commitFiles(repository, { 'a.yaml': 'a: 1\n' });
  const work = await clone(t, repository.url);
  const push = async (...args: string[]) => {
    await git(work, ['push', '--quiet', 'origin', ...args]);
    return eventually(() => {
      const last = pushes.pop();
      assert.ok(last);
      return last.changes;
    });
  };
  await git(work, ['commit', '--quiet', '--allow-empty', '-m', 'second']);
  const second = await git(work, ['rev-parse', 'HEAD']);

  assert.deepEqual(await push('HEAD:refs/heads/next'), [
    { ref: 'refs/heads/main', after: first },
    { ref: 'refs/heads/next', after: second },
  ]);
  assert.deepEqual(await push('HEAD:main'), [{ ref: 'refs/heads/main', before: first, after: second }]);
  assert.deepEqual(await push('--force', `${first}:main`), [{ ref: 'refs/heads/main', before: second, after: first }]);
  assert.deepEqual(await push('--delete', 'main'), [{ ref: 'refs/heads/main', before: first }]);
});

test('what Git can do is told to each who asks as to the first, and what there is as it is now', async (t) => {
  const server = await testGitServer(t);
  const credential = { user: 'ada', password: 'secret' };
  const repository = await server.createRepository('platform', { access: { credential } });
  const auth = ['-c', `http.extraHeader=Authorization: ${headerFor(credential)}`, '-c', 'protocol.version=2'];
  const look = (): Promise<string> => git(repository.folder, [...auth, 'ls-remote', repository.url, 'main']);
  const ask = async (headers: Record<string, string>): Promise<string> =>
    (await fetch(`${repository.url}/info/refs?service=git-upload-pack`, { headers })).text();
  const headers = { 'git-protocol': 'version=2', authorization: headerFor(credential) };

  assert.equal(await look(), '');
  const first = await ask(headers);
  const commit = await commitFiles(repository, { 'a.yaml': 'a: 1\n' });

  assert.match(first, /^000eversion 2\n/);
  assert.equal(await ask(headers), first);
  assert.equal(await look(), `${commit}\trefs/heads/main`);
  assert.match(
    await ask({ authorization: headers.authorization }),
    new RegExp(commit),
    'protocol 0 lists what there is',
  );
  assert.equal(await ask({ 'git-protocol': 'version=2' }), 'credentials are needed\n');
});

test('a push of many megabytes streams through', async (t) => {
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  await commitFiles(repository, { 'a.yaml': 'a: 1\n' });
  const work = await clone(t, repository.url);
  const content = randomBytes(8 * 1024 * 1024);
  await writeFile(join(work, 'big.bin'), content);
  await git(work, ['add', '.']);
  await git(work, ['commit', '--quiet', '-m', 'big']);
  await git(work, ['push', '--quiet', 'origin', 'HEAD']);

  const again = await clone(t, repository.url);
  assert.ok(content.equals(await readFile(join(again, 'big.bin'))));
});

test('a private repository refuses without the password and takes it from the URL', async (t) => {
  const server = await testGitServer(t);
  const access = { credential: { user: 'espalier', password: 'p@ss:word' } };
  const repository = await server.createRepository('private', { access });
  await commitFiles(repository, { 'a.yaml': 'a: 1\n' });

  await assert.rejects(clone(t, repository.url), /could not read Username|Authentication failed/);
  await assert.rejects(clone(t, repository.url.replace('//', '//espalier:wrong@')), /Authentication failed/);
  const work = await clone(t, repository.url.replace('//', '//espalier:p%40ss%3Aword@'));
  assert.equal(await readFile(join(work, 'a.yaml'), 'utf8'), 'a: 1\n');
});

test('a bearer token opens a repository, and a public one asks for it on push alone', async (t) => {
  const server = await testGitServer(t);
  const credential = { bearerToken: 'secret-token' };
  const repository = await server.createRepository('token', { access: { credential } });
  await commitFiles(repository, { 'a.yaml': 'a: 1\n' });
  const header = 'http.extraHeader=Authorization: Bearer secret-token';

  await assert.rejects(clone(t, repository.url));
  await clone(t, repository.url, [header]);

  server.setAccess('token', { credential, publicRead: true });
  const work = await clone(t, repository.url);
  await assert.rejects(git(work, ['push', 'origin', 'HEAD:refs/heads/x']));
  await git(work, ['-c', header, 'push', '--quiet', 'origin', 'HEAD:refs/heads/x']);
});

test('HTTPS is served with a certificate of the given authority, and clients that do not know it refuse', async (t) => {
  const authority = createAuthority('test');
  const server = await testGitServer(t, { authority });
  const repository = await server.createRepository('secure');
  await commitFiles(repository, { 'a.yaml': 'a: 1\n' });
  const bundle = join(await tempDir(t), 'ca.crt');
  await writeFile(bundle, authority.certificate);

  assert.match(repository.url, /^https:/);
  await assert.rejects(clone(t, repository.url), /certificate/);
  await clone(t, repository.url, [`http.sslCAInfo=${bundle}`]);
});

test('requests are recorded, so that a test can count polls', async (t) => {
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  await commitFiles(repository, { 'a.yaml': 'a: 1\n' });
  const folder = await tempDir(t);
  for (let i = 0; i < 3; i++) await git(folder, ['ls-remote', repository.url]);

  const polls = server.requests.filter((one) => one.repository === 'platform' && one.step === 'refs');
  assert.equal(polls.length, 3);
  assert.ok(polls.every((one) => one.status === 200));
});

test('a fault strikes the matching requests alone, as often as it was told to', async (t) => {
  const server = await testGitServer(t);
  const [one, other] = [await server.createRepository('one'), await server.createRepository('other')];
  const folder = await tempDir(t);
  const list = (url: string) => git(folder, ['ls-remote', url]);

  server.misbehave({ fault: { kind: 'status', status: 500 }, repository: 'one', times: 1 });
  await assert.rejects(list(one.url), /500/);
  await list(one.url);

  const heal = server.misbehave({ fault: { kind: 'html' }, repository: 'one' });
  await assert.rejects(list(one.url), /not valid|not found/);
  await list(other.url);
  heal();
  await list(one.url);
});

for (const fault of [{ kind: 'cut' }, { kind: 'garbage' }, { kind: 'status', status: 403 }] as const) {
  test(`the fault ${fault.kind} fails a client at once`, async (t) => {
    const server = await testGitServer(t);
    const { url } = await server.createRepository('platform');
    server.misbehave({ fault });
    await assert.rejects(git(await tempDir(t), ['ls-remote', url]));
  });
}

test('a hanging request ends when the server stops', async (t) => {
  const server = await testGitServer(t);
  const { url } = await server.createRepository('platform');
  server.misbehave({ fault: { kind: 'hang' } });
  const hanging = assert.rejects(fetch(`${url}/info/refs?service=git-upload-pack`));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server.stop();
  await hanging;
});

test('paths that leave the repositories, and the dumb protocol, are not found', async (t) => {
  const server = await testGitServer(t);
  await server.createRepository('platform');
  for (const path of [
    '/',
    '/platform.git/HEAD',
    '/platform.git/config',
    '/platform.git/../platform.git/info/refs?service=git-upload-pack',
    '/%2e%2e/etc/passwd',
    '/other.git/info/refs?service=git-upload-pack',
    '/platform.git/info/refs',
    '/platform.git/info/refs?service=git-shell',
  ]) {
    const answer = await fetch(`${server.url}${path}`);
    const known = path.includes('..') && answer.status === 200; // fetch itself resolves `..`
    assert.ok(known || answer.status === 404, `${path}: ${answer.status}`);
  }
});

test('names that are no names are refused when a repository is made', async (t) => {
  const server = await testGitServer(t);
  for (const name of ['..', '../x', 'a//b', '/a', 'A', '', '.git', 'a.git', '-a']) {
    await assert.rejects(server.createRepository(name), { code: 'PlaygroundFailed' });
  }
});
