import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { readHook } from '../../src/forge/hook.ts';
import { openForge } from '../../src/forge/open-forge.ts';
import { isProven } from '../../src/forge/proof.ts';
import { runTour } from '../../src/playground/forge/tour.ts';
import { git } from '../../src/playground/git.ts';
import { type Playground, startPlayground } from '../../src/playground/playground.ts';
import { eventually } from '../support/eventually.ts';
import { clone } from '../support/gitserver.ts';
import { hookListener } from '../support/hooklistener.ts';
import { ownControlPlane } from '../support/plane.ts';
import { tempDir } from '../support/tempdir.ts';

const { signal } = new AbortController();
const NAMESPACE = 'espalier-system';

test('a playground with a forge', async (t) => {
  const [plane, listener] = [await ownControlPlane(t), await hookListener(t)];
  const agent = async () => ({
    http: listener.url,
    lookNow: () => assert.fail('only the webhook tells of a push'),
    broken: new Promise<string>(() => {}),
    stop: async () => {},
  });
  const cluster = { kubeconfig: plane.kubeconfigPath };
  const playground = await startPlayground({ seed: await seedFolder(t), forge: 'gitea', cluster, agent });
  t.after(() => playground.stop());
  const secret = await secretOf(playground, 'forge-credentials');

  await t.test('declares where the repository is, and how its forge is answered', async () => {
    const sync = await playground.client.get({
      ...{ apiVersion: API_VERSION, kind: 'Sync' },
      ...{ namespace: NAMESPACE, name: 'platform' },
    });
    const { repository, forge } = Object(sync?.spec);
    assert.equal(repository.url, playground.git.url);
    assert.equal(forge.kind, 'gitea');
    assert.equal(forge.url, playground.forge?.url);
    assert.deepEqual(forge.secretRef, { name: 'forge-credentials' });
    const { username, password } = await secretOf(playground, 'git-credentials');
    const folder = await tempDir(t);
    await git(folder, ['ls-remote', playground.git.url.replace('://', `://${username}:${password}@`)]);
  });

  await t.test('is told of a push by a webhook that its secret proves', async () => {
    const { url, user, password } = playground.git;
    const work = await clone(t, url.replace('://', `://${user}:${password}@`));
    await git(work, ['commit', '--quiet', '--allow-empty', '-m', 'change']);
    await git(work, ['push', '--quiet', 'origin', 'HEAD']);
    const hook = await eventually(() => {
      const [first] = listener.hooks;
      assert.ok(first);
      return first;
    });
    assert.equal(hook.path, `/hooks/${NAMESPACE}/platform`);
    assert.equal(readHook(hook.headers, hook.body).about, 'push');
    assert.ok(isProven(hook.headers, hook.body, secret.webhookSecret, 'gitea'));
  });

  await t.test('shows what the agent answers to a pull request, and what came of it', async () => {
    const served = playground.forge;
    assert.ok(served);
    const answering = openForge({
      kind: 'gitea',
      repositoryUrl: playground.git.url,
      secret,
      policy: { http: true, privateAddresses: true },
      now: Date.now,
    });
    t.after(() => answering.close());
    const over = new AbortController();
    let told = '';
    const write = (text: string) => {
      told += text;
    };
    const touring = runTour({ forge: served, signal: over.signal, write, everyMs: 50 });
    const shows = (what: RegExp) => eventually(() => assert.match(told, what));
    await shows(/A colleague proposes a change: http:.*\/pulls\/1\n/);
    await shows(/replicas instead of 2/);
    const [pull] = await answering.openPullRequests(signal);
    assert.ok(pull);
    assert.equal(pull.author, 'grace');
    assert.equal(pull.fromFork, false);
    await eventually(() => assert.ok(listener.hooks.some(({ headers, body }) => readHook(headers, body).number === 1)));

    const plan = { context: 'espalier/playground/plan', description: 'looking' };
    await answering.setStatus(pull.head.commit, { ...plan, state: 'pending' }, signal);
    await shows(/… pending {2}espalier\/playground\/plan on the pull request .*: looking/);
    await answering.upsertComment(pull.number, { marker: 'playground', body: '**3** plugins change' }, signal);
    await shows(/✎ espalier writes on the pull request:\n {2}│ \*\*3\*\* plugins change\n/);
    assert.doesNotMatch(told, /your turn/);
    await answering.setStatus(pull.head.commit, { ...plan, state: 'success', description: '3 change' }, signal);
    await shows(/✔ success {2}espalier\/playground\/plan .*: 3 change/);
    await shows(/Now it is your turn/);
    // A person's own comment is no answer.
    await served.colleague.comment(pull.number, 'what I say myself');
    await answering.upsertComment(pull.number, { marker: 'playground', body: 'now **4**' }, signal);
    await shows(/│ now \*\*4\*\*/);
    assert.doesNotMatch(told, /what I say/);

    const merged = await served.colleague.mergePull(pull.number);
    await answering.setStatus(merged, { context: 'espalier/playground', state: 'pending', description: 'x' }, signal);
    await shows(new RegExp(`espalier/playground on main \\(${merged.slice(0, 7)}\\)`));
    over.abort();
    await touring;
  });

  await t.test('whose agent says nothing has a tour that says so and goes on', async () => {
    const served = playground.forge;
    assert.ok(served);
    await served.colleague.deleteBranch('tour');
    const over = new AbortController();
    let told = '';
    const write = (text: string) => {
      told += text;
    };
    const options = { forge: served, signal: over.signal, write, everyMs: 50, patienceMs: 500 };
    const touring = runTour({ ...options, forge: { ...served, agent: 'nobody' } });
    await eventually(() => assert.match(told, /Nothing more has come.*your turn/s));
    over.abort();
    await touring;
  });

  await t.test('leaves nothing of its forge when it is stopped', async () => {
    await playground.stop();
    await assert.rejects(fetch(playground.forge?.url ?? ''));
    let told = '';
    const write = (text: string) => {
      told += text;
    };
    assert.ok(playground.forge);
    await runTour({ forge: playground.forge, signal, write });
    assert.match(told, /The tour ends here/);
  });
});

async function seedFolder(t: TestContext): Promise<string> {
  const seed = await tempDir(t);
  await mkdir(join(seed, 'plugins'));
  await writeFile(join(seed, 'plugins', 'session-cache.yaml'), 'spec:\n  values:\n    replicas: 2\n');
  return seed;
}

async function secretOf(playground: Playground, name: string): Promise<Record<string, string>> {
  const secret = await playground.client.get({ apiVersion: 'v1', kind: 'Secret', namespace: NAMESPACE, name });
  const data: Record<string, string> = Object(secret?.data);
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}
