import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Forge } from '../../src/forge/forge.ts';
import { readHook } from '../../src/forge/hook.ts';
import { openForge } from '../../src/forge/open-forge.ts';
import { isProven } from '../../src/forge/proof.ts';
import { git } from '../../src/playground/git.ts';
import { eventually } from '../support/eventually.ts';
import { ownGitea, requestsOf, type TestRepository, testPerson, testRepository } from '../support/gitea.ts';
import { type DeliveredHook, type HookListener, hookListener } from '../support/hooklistener.ts';
import { uniqueName } from '../support/names.ts';

const { signal } = new AbortController();
const OWN = { marker: 'prod/espalier-system/platform' };

/** The agent's client of a repository, with the agent's token or another one. */
function forgeOf(t: Pick<TestContext, 'after'>, repository: TestRepository, token = repository.agent.token): Forge {
  const forge = openForge({
    kind: 'gitea',
    repositoryUrl: repository.url,
    secret: { token },
    policy: { http: true, privateAddresses: true },
    now: Date.now,
  });
  t.after(() => forge.close());
  return forge;
}

test('commit statuses on Gitea', async (t) => {
  const repository = await testRepository();
  const forge = forgeOf(t, repository);
  const { first } = repository;

  await t.test('are none on a new commit', async () => {
    assert.deepEqual(await forge.statuses(first, signal), []);
  });

  await t.test('in every state are shown as they were said, each in its context', async () => {
    for (const state of ['pending', 'success', 'failure', 'error'] as const)
      await forge.setStatus(first, { context: `espalier/${state}`, state, description: `it is ${state}` }, signal);
    const shown = (await repository.statuses(first)).map(({ context, state, description }) => [
      context,
      state,
      description,
    ]);
    assert.deepEqual(shown.sort(), [
      ['espalier/error', 'error', 'it is error'],
      ['espalier/failure', 'failure', 'it is failure'],
      ['espalier/pending', 'pending', 'it is pending'],
      ['espalier/success', 'success', 'it is success'],
    ]);
    const read = await forge.statuses(first, signal);
    assert.deepEqual(
      read.map(({ context, state }) => [context, state]).sort(),
      shown.map(([context, state]) => [context, state]),
    );
  });

  await t.test('said again, or anew, are shown once: what was said last', async () => {
    const commit = await repository.push({ a: '1' });
    const status = { context: 'espalier/prod', description: 'applying', url: 'https://espalier.example.com/commits/1' };
    await forge.setStatus(commit, { ...status, state: 'pending' }, signal);
    await forge.setStatus(commit, { ...status, state: 'success', description: '12 plugins ready' }, signal);
    await forge.setStatus(commit, { ...status, state: 'success', description: '12 plugins ready' }, signal);
    const last = { ...status, state: 'success', description: '12 plugins ready' };
    assert.deepEqual(await forge.statuses(commit, signal), [last]);
    const [shown] = await repository.statuses(commit);
    assert.deepEqual(shown, { ...last, author: repository.agent.name });
    assert.equal((await repository.statusHistory(commit)).length, 3);
  });

  await t.test('of more contexts than a page holds are all read', async () => {
    const commit = await repository.push({ a: '2' });
    const contexts = Array.from({ length: 53 }, (_, index) => `espalier/c${String(index).padStart(2, '0')}`);
    for (const context of contexts)
      await forge.setStatus(commit, { context, state: 'success', description: '' }, signal);
    const read = await forge.statuses(commit, signal);
    assert.deepEqual(read.map(({ context }) => context).sort(), contexts);
  });

  await t.test('fail for a commit that nobody pushed', async () => {
    const status = { context: 'espalier/prod', state: 'success', description: '' } as const;
    // Gitea answers 500 there, as when it is in trouble itself.
    await assert.rejects(forge.setStatus('0123456789'.repeat(4), status, signal), { code: 'ForgeUnreachable' });
  });
});

test('pull requests on Gitea are seen with heads that the followed repository itself serves', async (t) => {
  const repository = await testRepository();
  const forge = forgeOf(t, repository);
  assert.deepEqual(await forge.openPullRequests(signal), []);
  assert.equal(await forge.pullRequest(1, signal), undefined);

  const head = await repository.push({ a: 'topic' }, { branch: 'topic' });
  const own = await repository.openPull({ branch: 'topic', title: 'A topic' });
  const stranger = await testPerson('stranger');
  await repository.makePublic();
  const fork = await repository.as(stranger).fork();
  const foreignHead = await fork.push({ a: 'foreign' }, { branch: 'topic' });
  const foreign = await repository.as(stranger).openPull({ branch: `${stranger.name}:topic` });

  const open = (await forge.openPullRequests(signal)).sort((a, b) => a.number - b.number);
  assert.deepEqual(
    open.map(({ number, title, author, state, base, fromFork, url }) => ({
      ...{ number, title, author, state, base, fromFork, url },
    })),
    [
      {
        ...{ number: own.number, title: 'A topic', author: repository.owner.name, state: 'open', base: 'main' },
        ...{ fromFork: false, url: `${repository.page}/pulls/${own.number}` },
      },
      {
        ...{ number: foreign.number, title: foreign.title, author: stranger.name, state: 'open', base: 'main' },
        ...{ fromFork: true, url: `${repository.page}/pulls/${foreign.number}` },
      },
    ],
  );
  assert.deepEqual(
    open.map((pull) => pull.head.commit),
    [head, foreignHead],
  );
  for (const pull of open)
    await eventually(async () => assert.equal(await served(repository, pull.head.ref), pull.head.commit));

  const forced = await repository.push({ a: 'again' }, { branch: 'topic', parent: repository.first, force: true });
  await eventually(async () => assert.equal((await forge.pullRequest(own.number, signal))?.head.commit, forced));
  await eventually(async () => assert.equal(await served(repository, `refs/pull/${own.number}/head`), forced));

  await repository.closePull(foreign.number);
  assert.equal((await forge.pullRequest(foreign.number, signal))?.state, 'closed');
  await repository.reopenPull(foreign.number);
  assert.equal((await forge.pullRequest(foreign.number, signal))?.state, 'open');
  await repository.mergePull(own.number);
  assert.equal((await forge.pullRequest(own.number, signal))?.state, 'merged');
  assert.deepEqual(
    (await forge.openPullRequests(signal)).map(({ number }) => number),
    [foreign.number],
  );
});

test('a pull request whose fork is gone does not hide the others', async (t) => {
  const repository = await testRepository();
  await repository.makePublic();
  const stranger = await testPerson('stranger');
  const fork = await repository.as(stranger).fork();
  await fork.push({ a: 'foreign' }, { branch: 'topic' });
  const { number } = await repository.as(stranger).openPull({ branch: `${stranger.name}:topic` });
  await repository.push({ a: 'own' }, { branch: 'own' });
  const own = await repository.openPull({ branch: 'own' });
  await stranger.api.call('DELETE', `/repos/${fork.name}`);

  const open = await forgeOf(t, repository).openPullRequests(signal);
  assert.ok(open.some((pull) => pull.number === own.number && !pull.fromFork));
  assert.ok(open.every((pull) => pull.number !== number || pull.fromFork));
});

test("the agent's comment on Gitea", async (t) => {
  const repository = await testRepository();
  await repository.push({ a: 'topic' }, { branch: 'topic' });
  const { number } = await repository.openPull({ branch: 'topic' });
  const forge = forgeOf(t, repository);
  const bodies = async (): Promise<string[]> => (await repository.comments(number)).map(({ body }) => body);
  let id = '';

  await t.test('is written once and changed in place, with its id or without', async () => {
    id = await forge.upsertComment(number, { ...OWN, body: 'one' }, signal);
    assert.equal(await forge.upsertComment(number, { ...OWN, body: 'two', id }, signal), id);
    assert.match((await bodies()).join(), /two$/);
    assert.equal(await forge.upsertComment(number, { ...OWN, body: 'three' }, signal), id);
    assert.deepEqual((await bodies()).length, 1);
    assert.match((await bodies()).join(), /three$/);
  });

  await t.test('keeps apart from that of another cluster', async () => {
    const other = await forge.upsertComment(number, { marker: 'test/espalier-system/platform', body: 'b' }, signal);
    assert.notEqual(other, id);
    assert.equal((await bodies()).length, 2);
  });

  await t.test('is written again when a person deleted it', async () => {
    await repository.deleteComment(Number(id));
    const again = await forge.upsertComment(number, { ...OWN, body: 'four', id }, signal);
    assert.notEqual(again, id);
    assert.match((await bodies()).join(), /four$/);
    id = again;
  });

  await t.test('is never somebody else’s, whatever marker that bears', async () => {
    const marked = (await bodies()).find((body) => body.endsWith('four')) ?? '';
    await repository.deleteComment(Number(id));
    const forged = await repository.comment(number, marked);
    const again = await forge.upsertComment(number, { ...OWN, body: 'five' }, signal);
    assert.notEqual(again, String(forged.id));
    assert.ok((await bodies()).includes(marked));
  });

  await t.test('of the greatest length is taken, and a longer one refused before it is sent', async () => {
    const most = 'x'.repeat(forge.limits.comment);
    const long = await forge.upsertComment(number, { marker: 'm'.repeat(200), body: most }, signal);
    const shown = (await repository.comments(number)).find((comment) => String(comment.id) === long);
    assert.ok(shown?.body.endsWith(most));
    // Gitea writes its log behind its answers, in their order.
    const sent = async (): Promise<number> => {
      const [path, mark] = [`/repos/${repository.name}/issues`, uniqueName('mark')];
      const headers = { authorization: `token ${repository.owner.token}` };
      await fetch(`${repository.forge.url}/api/v1${path}?q=${mark}`, { headers });
      return await eventually(async () => {
        const at = (await requestsOf(repository.forge, path)).findIndex((line) => line.includes(mark));
        assert.ok(at >= 0, 'the log is behind');
        return at;
      });
    };
    const before = await sent();
    await assert.rejects(forge.upsertComment(number, { ...OWN, body: `${most}x` }, signal), { code: 'ForgeRefused' });
    assert.equal(await sent(), before + 1);
  });

  await t.test('is shown to people without its marker', async () => {
    const page = await fetch(`${repository.forge.url}/api/v1/markdown`, {
      method: 'POST',
      headers: { authorization: `token ${repository.owner.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: (await bodies()).at(-2), mode: 'gfm' }),
    });
    const html = await page.text();
    assert.match(html, /five/);
    assert.doesNotMatch(html, /espalier/);
  });
});

test('comments of people are read with their author and whether they were changed', async (t) => {
  const repository = await testRepository();
  await repository.push({ a: 'topic' }, { branch: 'topic' });
  const { number } = await repository.openPull({ branch: 'topic' });
  const forge = forgeOf(t, repository);
  const grace = await testPerson('grace');
  await repository.addCollaborator(grace.name, 'write');
  await forge.upsertComment(number, { ...OWN, body: 'the plan' }, signal);
  const began = Date.now();
  await repository.as(grace).comment(number, '/espalier approve');
  const { id } = await repository.comment(number, 'no');

  const read = await forge.comments(number, signal);
  assert.deepEqual(
    read.map(({ author, body, edited }) => [author, body, edited]),
    [
      [grace.name, '/espalier approve', false],
      [repository.owner.name, 'no', false],
    ],
  );
  // Gitea tells whole seconds.
  for (const { writtenAt } of read) assert.ok(writtenAt >= began - 1_000 && writtenAt <= Date.now());
  await eventually(async () => {
    await repository.editComment(id, `/espalier approve ${Date.now()}`);
    const changed = (await forge.comments(number, signal)).find((comment) => comment.id === String(id));
    assert.equal(changed?.edited, true);
  });
});

test('who may write is what Gitea says now', async (t) => {
  const repository = await testRepository();
  const forge = forgeOf(t, repository);
  const [writer, reader, stranger] = [await testPerson('writer'), await testPerson('reader'), await testPerson()];
  await repository.addCollaborator(writer.name, 'write');
  await repository.addCollaborator(reader.name, 'read');

  const rights = async (...users: string[]) =>
    await Promise.all(users.map(async (user) => await forge.mayWrite(user, signal)));
  assert.deepEqual(await rights(repository.owner.name, repository.agent.name, writer.name), [true, true, true]);
  assert.deepEqual(await rights(reader.name, stranger.name, 'nobody-of-that-name'), [false, false, false]);
  assert.deepEqual(await rights('../owner'), [false]);

  await repository.makePublic();
  assert.deepEqual(await rights(stranger.name), [false]);
  await repository.removeCollaborator(writer.name);
  assert.deepEqual(await rights(writer.name), [false]);
});

test('rights are not known, rather than none, where the agent may not ask or the repository is gone', async (t) => {
  const repository = await testRepository();
  const [writer, other] = [await testPerson('writer'), await testPerson('other')];
  await repository.addCollaborator(writer.name, 'write');
  await assert.rejects(forgeOf(t, repository, writer.token).mayWrite(other.name, signal), { code: 'ForgeAuthFailed' });
  await repository.removeCollaborator(repository.agent.name);
  const forge = forgeOf(t, repository);
  await assert.rejects(forge.mayWrite(repository.owner.name, signal), { code: 'ForgeRefused' });
  await assert.rejects(forge.pullRequest(1, signal), { code: 'ForgeRefused' });
});

test('webhooks that Gitea delivers', async (t) => {
  const [repository, listener] = [await testRepository(), await hookListener(t)];
  const forge = forgeOf(t, repository);
  const secret = 'a secret of the hook';
  const url = `${listener.url}/hooks/espalier-system/platform`;

  await t.test('are asked for once, also when the secret changes', async () => {
    await repository.createHook({ url: `${listener.url}/others`, secret: 'x', events: ['release'] });
    assert.equal(await forge.ensureWebhook({ url, secret: 'old' }, signal), 'created');
    assert.equal(await forge.ensureWebhook({ url, secret }, signal), 'changed');
    const hooks = await repository.hooks();
    assert.deepEqual(hooks.map((hook) => hook.url).sort(), [url, `${listener.url}/others`]);
    assert.ok(hooks.every(({ active }) => active));
  });

  await t.test('tell of a push, and are believed by their signature alone', async () => {
    await repository.push({ a: 'topic' }, { branch: 'topic' });
    const hook = await delivered(listener, (one) => readHook(one.headers, one.body).about === 'push');
    assert.ok(isProven(hook.headers, hook.body, secret, 'gitea'));
    assert.ok(isProven(hook.headers, hook.body, secret));
    assert.ok(!isProven(hook.headers, hook.body, 'old', 'gitea'));
    const tampered = Buffer.from(hook.body);
    const at = Math.floor(tampered.length / 2);
    tampered.writeUInt8(tampered.readUInt8(at) ^ 1, at);
    assert.ok(!isProven(hook.headers, tampered, secret, 'gitea'));
    assert.ok(!isProven(hook.headers, hook.body.subarray(1), secret, 'gitea'));
    assert.ok(!isProven(hook.headers, Buffer.concat([hook.body, Buffer.from(' ')]), secret, 'gitea'));
  });

  await t.test('tell of a pull request, of pushes to it, of comments and of its end, with its number', async () => {
    const { number } = await repository.openPull({ branch: 'topic' });
    const about = (kind: string, action: string) =>
      delivered(listener, ({ headers, body }) => {
        const hook = readHook(headers, body);
        return hook.about === kind && hook.number === number && JSON.parse(body.toString()).action === action;
      });
    await about('pull-request', 'opened');
    await repository.push({ a: 'more' }, { branch: 'topic' });
    await about('pull-request', 'synchronized');
    const { id } = await repository.comment(number, '/espalier approve');
    await about('comment', 'created');
    await repository.editComment(id, 'no, wait');
    await about('comment', 'edited');
    await repository.deleteComment(id);
    await about('comment', 'deleted');
    await repository.closePull(number);
    await about('pull-request', 'closed');
    await repository.reopenPull(number);
    await about('pull-request', 'reopened');
  });

  await t.test('each have an id of their own, and each is proven', () => {
    const hooks = listener.hooks.filter(({ path }) => path === new URL(url).pathname);
    const ids = hooks.map(({ headers, body }) => readHook(headers, body).delivery);
    assert.equal(new Set(ids).size, hooks.length);
    for (const { headers, body } of hooks) assert.ok(isProven(headers, body, secret, 'gitea'));
  });

  await t.test('on issues are of no interest', async () => {
    const issue = await repository.owner.api.call('POST', `/repos/${repository.name}/issues`, { title: 'a bug' });
    await repository.comment(issue.number('number'), '/espalier approve');
    const hook = await delivered(listener, ({ headers, body }) => {
      return headers.get('x-gitea-event') === 'issue_comment' && body.includes('"is_pull": false');
    });
    assert.equal(readHook(hook.headers, hook.body).about, 'other');
  });
});

test('a revoked token and one without the rights are said to be that', async (t) => {
  const repository = await testRepository();
  const token = await repository.agent.createToken('short');
  const forge = forgeOf(t, repository, token);
  const status = { context: 'espalier/prod', state: 'success', description: '' } as const;
  await forge.setStatus(repository.first, status, signal);
  await repository.agent.revokeToken('short');
  const asked = [
    () => forge.setStatus(repository.first, status, signal),
    () => forge.openPullRequests(signal),
    () => forge.upsertComment(1, { ...OWN, body: 'x' }, signal),
    () => forge.mayWrite('ada', signal),
  ];
  for (const asking of asked)
    await assert.rejects(asking, (error: Error) => {
      assert.equal('code' in error && error.code, 'ForgeAuthFailed');
      assert.match(error.message, /`token`/);
      assert.ok(!error.message.includes(token));
      return true;
    });

  const readOnly = await repository.agent.createToken('reading', ['read:repository']);
  const reading = forgeOf(t, repository, readOnly);
  assert.deepEqual(await reading.openPullRequests(signal), []);
  await assert.rejects(reading.setStatus(repository.first, status, signal), {
    code: 'ForgeAuthFailed',
    message: /write:repository/,
  });
});

test('with just the scopes that errors name, everything works', async (t) => {
  const repository = await testRepository();
  await repository.push({ a: 'topic' }, { branch: 'topic' });
  const { number } = await repository.openPull({ branch: 'topic' });
  const scopes = ['write:repository', 'write:issue', 'read:user'];
  const forge = forgeOf(t, repository, await repository.agent.createToken('scoped', scopes));
  await forge.setStatus(repository.first, { context: 'c', state: 'success', description: '' }, signal);
  await forge.upsertComment(number, { ...OWN, body: 'x' }, signal);
  assert.equal((await forge.openPullRequests(signal)).length, 1);
  assert.deepEqual(await forge.comments(number, signal), []);
  assert.ok(await forge.mayWrite(repository.owner.name, signal));
  assert.equal(await forge.ensureWebhook({ url: 'http://127.0.0.1:9/hooks/a/b', secret: 's' }, signal), 'created');
});

test('Gitea that is down can not be reached, and is asked again once it is up', async (t) => {
  const gitea = await ownGitea(t);
  const repository = await testRepository({ a: 'a' }, { forge: gitea });
  const forge = forgeOf(t, repository);
  const status = { context: 'espalier/prod', state: 'success', description: '' } as const;
  assert.deepEqual(await forge.openPullRequests(signal), []);
  await gitea.halt();
  await assert.rejects(forge.setStatus(repository.first, status, signal), { code: 'ForgeUnreachable' });
  await assert.rejects(forge.openPullRequests(signal), { code: 'ForgeUnreachable' });
  await gitea.resume();
  await forge.setStatus(repository.first, status, signal);
  assert.equal((await repository.statuses(repository.first)).length, 1);
});

/** What the repository itself serves under a ref, as Git sees it. */
async function served(repository: TestRepository, ref: string): Promise<string> {
  const login = repository.url.replace('://', `://${repository.owner.name}:${repository.owner.token}@`);
  return (await git(repository.copy.folder, ['ls-remote', login, ref])).split('\t')[0] ?? '';
}

async function delivered(listener: HookListener, matches: (hook: DeliveredHook) => boolean): Promise<DeliveredHook> {
  return await eventually(() => {
    const hook = listener.hooks.find(matches);
    const seen = listener.hooks.map(({ headers, body }) => JSON.stringify(readHook(headers, body)));
    assert.ok(hook, `not delivered; there were ${seen.join(', ')}`);
    return hook;
  });
}
