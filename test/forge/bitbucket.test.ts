import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { startBitbucketCloud, uuidOf } from './support/bitbucket-cloud.ts';
import { startBitbucketServer } from './support/bitbucket-server.ts';
import { openFake } from './support/fake-forge.ts';
import { addNote, addPull, COMMIT, commitOf } from './support/state.ts';

const live = new AbortController().signal;

for (const start of [startBitbucketCloud, startBitbucketServer]) {
  test(`${start.name}: long contexts keep keys of their own, and their names`, async (t) => {
    const fake = await start();
    t.after(() => fake.close());
    const { forge } = openFake(fake);
    const contexts = ['one', 'two'].map((end) => `espalier/a-cluster-with-a-rather-long-name/${end}`);
    for (const context of contexts) {
      await forge.setStatus(COMMIT, { context, state: 'success', description: 'ok' }, live);
    }
    const said = await forge.statuses(COMMIT, live);
    assert.deepEqual(
      said.map(({ context }) => context),
      contexts,
    );
    const keys = (fake.state.statuses.get(COMMIT) ?? []).map(({ sent }) => String(sent.key));
    assert.ok(keys.every((key) => key.length === 40 && key.startsWith('espalier/a-cluster')));
    assert.equal(new Set(keys).size, 2);
    await forge.close();
  });

  test(`${start.name}: a status without a link leads to its commit`, async (t) => {
    const fake = await start();
    t.after(() => fake.close());
    const { forge } = openFake(fake);
    await forge.setStatus(COMMIT, { context: 'c', state: 'success', description: 'ok' }, live);
    const [said] = await forge.statuses(COMMIT, live);
    assert.match(said?.url ?? '', new RegExp(`^https?://.*/commits/${COMMIT}$`));
    await forge.close();
  });
}

test('Cloud is asked at its own address, through the proxy, by the authority that was given', async (t) => {
  const fake = await startBitbucketCloud();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  assert.deepEqual(await forge.openPullRequests(live), []);
  assert.deepEqual(fake.tunnel.asked, ['api.bitbucket.org:443']);
  await forge.close();
  const { forge: doubting } = openFake(fake, { caBundle: undefined });
  await assert.rejects(doubting.openPullRequests(live), (error) => {
    assert.ok(isError(error, 'ForgeUnreachable'));
    assert.match(error.message, /certificate is not trusted/);
    return true;
  });
  await doubting.close();
});

test('Cloud: a head is named whole, asked for once, and one that moves meanwhile waits for the next look', async (t) => {
  const fake = await startBitbucketCloud();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  addPull(fake.state);
  const moving = addPull(fake.state);
  const fork = addPull(fake.state, { fork: true });
  fake.server.fault = ({ path }) =>
    path.endsWith('/pullrequests/2/commits')
      ? { status: 200, body: { values: [{ hash: 'e'.repeat(40) }] } }
      : undefined;
  assert.deepEqual(
    (await forge.openPullRequests(live)).map(({ number }) => number),
    [1, 3],
  );
  fake.server.fault = undefined;
  fake.server.requests.length = 0;
  const open = await forge.openPullRequests(live);
  assert.equal(open[1]?.head.commit, moving.commit);
  assert.equal(fake.server.requests.length, 2);
  assert.equal(open[0]?.head.ref, 'refs/heads/topic-1');
  // A fork's branch must never be taken for ours of the same name.
  assert.deepEqual(open[2]?.head, { commit: commitOf(fork.number), ref: 'refs/pull-requests/3/from' });
  await forge.close();
});

test('Cloud: a nickname proves nothing', async (t) => {
  const fake = await startBitbucketCloud();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  assert.equal(await forge.mayWrite('ada', live), false);
  assert.equal(await forge.mayWrite(`ada ${uuidOf('ada')} ${uuidOf('eve')}`, live), false);
  assert.equal(await forge.mayWrite(`${uuidOf('ada')}`, live), true);
  await forge.close();
});

test('Cloud: a repository access token, which may not ask who it is, still keeps to one comment', async (t) => {
  const fake = await startBitbucketCloud();
  t.after(() => fake.close());
  fake.nameless = true;
  addPull(fake.state);
  const { forge: first } = openFake(fake);
  const id = await first.upsertComment(1, { marker: 'prod', body: 'plan' }, live);
  await first.close();
  addNote(fake.state, { number: 1, author: 'rita', body: 'looks good' });
  const { forge: second } = openFake(fake);
  assert.deepEqual(
    (await second.comments(1, live)).map(({ body }) => body),
    ['looks good'],
  );
  assert.equal(await second.upsertComment(1, { marker: 'prod', body: 'newer plan' }, live), id);
  assert.equal(fake.state.comments.length, 2);
  await second.close();
});

test('Data Center: a login that it does not take, though it answers, is told', async (t) => {
  const fake = await startBitbucketServer();
  t.after(() => fake.close());
  fake.state.self = '';
  const { forge } = openFake(fake);
  await assert.rejects(forge.comments(1, live), (error) => isError(error, 'ForgeAuthFailed'));
  await forge.close();
});

test('Data Center: replies count as comments', async (t) => {
  const fake = await startBitbucketServer();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  const reply = {
    id: 2,
    version: 0,
    text: '/espalier approve',
    author: { name: 'ada' },
    createdDate: 2,
    updatedDate: 2,
  };
  const comment = { id: 1, version: 0, text: 'hm', author: { name: 'rita' }, createdDate: 1, updatedDate: 1 };
  fake.server.fault = ({ path }) =>
    path.endsWith('/activities')
      ? {
          status: 200,
          body: {
            isLastPage: true,
            values: [{ action: 'COMMENTED', commentAction: 'ADDED', comment: { ...comment, comments: [reply] } }],
          },
        }
      : undefined;
  assert.deepEqual(
    (await forge.comments(1, live)).map(({ author, body }) => [author, body]),
    [
      ['rita', 'hm'],
      ['ada', '/espalier approve'],
    ],
  );
  await forge.close();
});
