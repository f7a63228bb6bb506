import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { startGitea } from '../../src/playground/forge/gitea.ts';
import { git } from '../../src/playground/git.ts';
import { startOf } from '../../src/tools/owner.ts';
import { eventually } from '../support/eventually.ts';
import { ownGitea, requestsOf, testPerson, testRepository } from '../support/gitea.ts';
import { hookListener } from '../support/hooklistener.ts';
import { tempDir } from '../support/tempdir.ts';

test('what people push is what Gitea serves: commits, branches, rewritten and deleted ones', async (t) => {
  const repository = await testRepository({ 'web.yaml': 'kind: Plugin\n' });
  assert.equal(await repository.head(), repository.first);
  const second = await repository.push({ 'db.yaml': 'kind: Plugin\n' });
  assert.equal(await repository.head(), second);

  const topic = await repository.push({ 'web.yaml': null }, { branch: 'topic' });
  await git(repository.copy.folder, ['merge-base', '--is-ancestor', second, topic]);
  const rewritten = { branch: 'topic', parent: repository.first };
  await assert.rejects(repository.push({ 'a.yaml': 'a' }, rewritten), { code: 'PlaygroundFailed' });
  assert.equal(await repository.head('topic'), topic);
  const forced = await repository.push({ 'a.yaml': 'a' }, { ...rewritten, force: true });
  assert.equal(await repository.head('topic'), forced);
  await repository.deleteBranch('topic');
  assert.equal(await repository.head('topic'), undefined);

  const login = repository.url.replace('://', `://${repository.owner.name}:${repository.owner.password}@`);
  const asPull = ['push', '--quiet', login, `${second}:refs/pull/9/head`];
  await assert.rejects(git(repository.copy.folder, asPull), /hook declined/);
  const folder = await tempDir(t);
  await git(folder, ['clone', '--quiet', login, 'work']);
  assert.deepEqual((await readdir(join(folder, 'work'))).sort(), ['.git', 'db.yaml', 'web.yaml']);
  await assert.rejects(git(folder, ['clone', '--quiet', repository.url, 'other']), /Username|Authentication/);
});

test('a pull request goes its way: opened, pushed to, closed, opened again, talked about, merged', async () => {
  const repository = await testRepository();
  const grace = await testPerson('grace');
  await repository.addCollaborator(grace.name, 'write');
  const hers = repository.as(grace);
  await hers.push({ 'new.yaml': '1' }, { branch: 'topic' });
  const { number, author, page } = await hers.openPull({ branch: 'topic', title: 'A new thing' });
  assert.equal(author, grace.name);
  assert.equal(page, `${repository.page}/pulls/${number}`);

  const head = await hers.push({ 'new.yaml': '2' }, { branch: 'topic' });
  await eventually(async () => assert.equal((await repository.pull(number)).head, head));
  await repository.closePull(number);
  assert.equal((await repository.pull(number)).state, 'closed');
  await repository.reopenPull(number);

  const { id } = await hers.comment(number, 'please');
  await repository.comment(number, 'why?');
  await hers.editComment(id, 'please look');
  assert.deepEqual(
    (await repository.comments(number)).map(({ author, body }) => [author, body]),
    [
      [grace.name, 'please look'],
      [repository.owner.name, 'why?'],
    ],
  );
  await hers.deleteComment(id);
  assert.equal((await repository.comments(number)).length, 1);

  const merged = await repository.mergePull(number);
  assert.equal((await repository.pull(number)).state, 'merged');
  assert.equal(await repository.head(), merged);
});

test('a stranger sees a private repository not at all, and proposes to a public one from a fork', async () => {
  const repository = await testRepository();
  const mallory = await testPerson('mallory');
  const theirs = repository.as(mallory);
  await assert.rejects(theirs.pull(1), { code: 'PlaygroundFailed', message: /404/ });
  await repository.makePublic();
  await assert.rejects(theirs.push({ a: 'a' }), { code: 'PlaygroundFailed' });
  const fork = await theirs.fork();
  const head = await fork.push({ a: 'a' }, { branch: 'mine' });
  const { number } = await theirs.openPull({ branch: `${mallory.name}:mine` });
  assert.equal((await repository.pull(number)).head, head);
});

test('the page of a pull request can be read, and finds the scripts and styles that it names', async () => {
  const repository = await testRepository();
  await repository.push({ a: 'a' }, { branch: 'topic' });
  const { number, page } = await repository.openPull({ branch: 'topic' });
  await repository.comment(number, '**two** plugins change');
  await repository.makePublic();
  const html = await (await fetch(page, { headers: { accept: 'text/html' } })).text();
  assert.match(html, /<strong>two<\/strong> plugins change/);
  const assets = [...html.matchAll(/"(\/assets\/(?:js|css)\/[^"]+)"/g)].map(([, path]) => path);
  assert.ok(assets.length >= 3);
  for (const path of assets) assert.equal((await fetch(`${repository.forge.url}${path}`)).status, 200, path);
});

test('hooks are delivered to this machine, and what was asked of the forge can be read', async (t) => {
  const [repository, listener] = [await testRepository(), await hookListener(t)];
  await repository.createHook({ url: `${listener.url}/here`, secret: 'hush', events: ['push'] });
  const [hook] = await repository.hooks();
  assert.equal(hook?.url, `${listener.url}/here`);
  await repository.push({ a: 'a' });
  await eventually(() => assert.equal(listener.hooks.length, 1));
  assert.equal(listener.hooks[0]?.path, '/here');
  assert.equal(listener.hooks[0]?.headers.get('x-gitea-event'), 'push');
  const asked = await eventually(async () => {
    const lines = await requestsOf(repository.forge, `/repos/${repository.name}/hooks`);
    assert.equal(lines.length, 2);
    return lines;
  });
  assert.match(asked[0] ?? '', /^POST .*\/hooks 201$/);
});

test('a token that was taken back opens nothing', async () => {
  const person = await testPerson();
  const token = await person.createToken('second');
  const { forge } = await testRepository();
  const ask = async () =>
    (await fetch(`${forge.url}/api/v1/user`, { headers: { authorization: `token ${token}` } })).status;
  assert.equal(await ask(), 200);
  await person.revokeToken('second');
  assert.equal(await ask(), 401);
});

test('halted it answers nobody, resumed it knows everything and listens where it did', async (t) => {
  const forge = await ownGitea(t);
  const repository = await testRepository({ a: 'a' }, { forge });
  const before = forge.pid;
  await forge.halt();
  assert.equal(startOf(before), undefined);
  await assert.rejects(fetch(forge.url));
  await forge.resume();
  assert.equal(await repository.head(), repository.first);
  assert.notEqual(forge.pid, before);

  process.kill(forge.pid, 'SIGKILL');
  assert.equal(await forge.broken, 'Gitea');
  await forge.stop();
  await forge.stop();
});

test('a start that is given up leaves no process', async (t) => {
  const root = join(await tempDir(t), 'gitea');
  const giveUp = new AbortController();
  const starting = startGitea({ root, signal: giveUp.signal });
  setTimeout(() => giveUp.abort(), 300);
  await assert.rejects(starting, { code: 'Aborted' });
  await eventually(() => assert.deepEqual(processesAbout(root), []));
});

const onlyLinux = process.platform === 'linux' ? {} : { skip: 'reads /proc' };

test('after SIGKILL of its process nothing of it is left running', onlyLinux, async (t) => {
  const root = join(await tempDir(t), 'gitea');
  const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-gitea.ts'), root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => holder.kill('SIGKILL'));
  const held: { pid: number } = await new Promise((resolve) => {
    createInterface(holder.stdout).once('line', (line) => resolve(JSON.parse(line)));
  });
  assert.ok(processesAbout(root).includes(held.pid));
  holder.kill('SIGKILL');
  await eventually(() => assert.deepEqual(processesAbout(root), []));
});

/** Living processes, but this one's runner, whose arguments name a folder. */
function processesAbout(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${folder}/`) && startOf(pid) !== undefined;
    } catch {
      return false;
    }
  });
}
