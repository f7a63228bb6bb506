import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { openFake } from './support/fake-forge.ts';
import { startGitlab } from './support/gitlab.ts';
import { addPull, COMMIT } from './support/state.ts';

const live = new AbortController().signal;
const PENDING = { context: 'espalier/prod', state: 'pending', description: 'applying' } as const;

test('takes "Cannot transition status via :run from :running" for what it is: said already', async (t) => {
  const fake = await startGitlab();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  await forge.setStatus(COMMIT, PENDING, live);
  await forge.setStatus(COMMIT, PENDING, live);
  fake.server.fault = () => ({
    status: 400,
    body: { message: 'Cannot transition status via :enqueue from :pending (Reason(s): …)' },
  });
  await forge.setStatus(COMMIT, PENDING, live);
  await forge.close();
});

test('does not take a refused transition from another state for success', async (t) => {
  const fake = await startGitlab();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  fake.server.fault = () => ({
    status: 400,
    body: { message: 'Cannot transition status via :run from :success (Reason(s): …)' },
  });
  await assert.rejects(forge.setStatus(COMMIT, PENDING, live), (error) => isError(error, 'ForgeRefused'));
  await forge.close();
});

test('says a status again where two at once made the same pipeline', async (t) => {
  const fake = await startGitlab();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  let conflicts = 2;
  fake.server.fault = () => {
    conflicts -= 1;
    return conflicts < 0 ? undefined : { status: 409, body: { message: { base: ['Pipeline is being created'] } } };
  };
  await forge.setStatus(COMMIT, PENDING, live);
  assert.equal(fake.server.requests.length, 3);
  conflicts = 99;
  await assert.rejects(forge.setStatus(COMMIT, PENDING, live), (error) => {
    assert.ok(isError(error, 'ForgeRefused'));
    assert.match(error.message, /base Pipeline is being created/);
    return true;
  });
  assert.equal(fake.server.requests.length, 7);
  await forge.close();
});

test('finds a project below subgroups, and one on a forge below a path', async (t) => {
  const fake = await startGitlab();
  t.after(() => fake.close());
  addPull(fake.state);
  const { forge } = openFake(fake, { repositoryUrl: 'git@127.0.0.1:acme/team/platform.git', url: fake.server.url });
  assert.equal((await forge.openPullRequests(live)).length, 1);
  assert.equal(fake.server.requests[0]?.path, '/api/v4/projects/acme%2Fteam%2Fplatform/merge_requests');
  await forge.close();
});

test('waits as long as RateLimit-Reset says once nothing is left, by the clock of GitLab', async (t) => {
  const fake = await startGitlab();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  fake.server.fault = () => ({
    status: 200,
    body: [],
    headers: { date: 'Wed, 18 Nov 2026 15:00:00 GMT', 'ratelimit-remaining': '0', 'ratelimit-reset': '1795014045' },
  });
  assert.deepEqual(await forge.openPullRequests(live), []);
  await assert.rejects(forge.openPullRequests(live), (error) => {
    assert.ok(isError(error, 'ForgeLimited'));
    assert.equal(error.retryAfterMs, 45_000);
    return true;
  });
  await forge.close();
});

test('a secret of the form whsec_ also signs the body', async (t) => {
  const fake = await startGitlab();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  await forge.ensureWebhook({ url: 'https://agent.example.com/h', secret }, live);
  assert.equal(fake.state.hooks[0]?.sent.signing_token, secret);
  await forge.close();
});
