import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { Gates } from '../../src/forge/limit.ts';
import { openFake } from './support/fake-forge.ts';
import { startGithub } from './support/github.ts';
import { addNote, addPull, COMMIT } from './support/state.ts';

const live = new AbortController().signal;
const STATUS = { context: 'espalier/prod', state: 'success', description: 'ok' } as const;

test('a commit with 1,000 statuses of a context is told once, in plain words', async (t) => {
  const fake = await startGithub();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  const said = { context: STATUS.context, state: 'success', description: 'ok', sent: {} };
  fake.state.statuses.set(
    COMMIT,
    Array.from({ length: 1000 }, () => said),
  );
  await assert.rejects(forge.setStatus(COMMIT, STATUS, live), (error) => {
    assert.ok(isError(error, 'ForgeRefused'));
    assert.match(error.message, /reached the maximum number of statuses/);
    return true;
  });
  assert.equal(fake.server.requests.length, 1);
  await forge.close();
});

test('says no more than 80 things a minute and 500 an hour, and asks GitHub nothing to know that', async (t) => {
  const fake = await startGithub();
  t.after(() => fake.close());
  const { forge, clock } = openFake(fake);
  let sent = 0;
  const sayAll = async (): Promise<number> => {
    while (true) {
      try {
        await forge.setStatus(COMMIT, { ...STATUS, context: `c${sent}` }, live);
        sent += 1;
      } catch (error) {
        assert.ok(isError(error, 'ForgeLimited'));
        return error.retryAfterMs ?? 0;
      }
    }
  };
  assert.equal(await sayAll(), 60_000);
  assert.equal(sent, 80);
  assert.equal(fake.server.requests.length, 80);
  assert.equal((await forge.statuses(COMMIT, live)).length, 80);
  while (sent < 500) {
    clock.now += 60_000;
    await sayAll();
  }
  assert.equal(sent, 500);
  clock.now += 60_000;
  assert.ok((await sayAll()) > 30 * 60_000);
  assert.equal(sent, 500);
  await forge.close();
});

test('Syncs with the same token share its limits', async (t) => {
  const fake = await startGithub();
  t.after(() => fake.close());
  const gates = new Gates();
  const { forge: one } = openFake(fake, { gates });
  const { forge: other } = openFake(fake, { gates });
  fake.server.fault = () => ({ status: 403, body: { message: 'You have exceeded a secondary rate limit.' } });
  await assert.rejects(one.statuses(COMMIT, live), (error) => isError(error, 'ForgeLimited'));
  await assert.rejects(other.statuses(COMMIT, live), (error) => isError(error, 'ForgeLimited'));
  assert.equal(fake.server.requests.length, 1);
  await one.close();
  await other.close();
});

test('a 403 for want of a permission names it, and the key of the Secret', async (t) => {
  const fake = await startGithub();
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  fake.server.fault = () => ({ status: 403, body: { message: 'Resource not accessible by personal access token' } });
  await assert.rejects(forge.setStatus(COMMIT, STATUS, live), (error) => {
    assert.ok(isError(error, 'ForgeAuthFailed'));
    assert.match(error.message, /`token`.*not accessible.*"Commit statuses: write".*repo:status/);
    return true;
  });
  await forge.close();
});

test('a GitHub App asks for no more than it needs, once, and knows its own comments', async (t) => {
  const fake = await startGithub({ app: true });
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  addPull(fake.state);
  addNote(fake.state, { number: 1, author: 'espalier', body: '[//]: # (espalier:prod)\n\nsomebody of that name' });
  const id = await forge.upsertComment(1, { marker: 'prod', body: 'plan' }, live);
  assert.equal(await forge.upsertComment(1, { marker: 'prod', body: 'newer plan' }, live), id);
  await forge.setStatus(COMMIT, STATUS, live);
  const daily = { metadata: 'read', statuses: 'write', pull_requests: 'write', issues: 'write' };
  assert.deepEqual(fake.asked, [daily]);
  await forge.ensureWebhook({ url: 'https://agent.example.com/h', secret: 'x' }, live);
  assert.deepEqual(fake.asked, [daily, { repository_hooks: 'write' }]);
  await forge.close();
});

test('an App whose installation was removed is told as such, without its key', async (t) => {
  const fake = await startGithub({ app: true });
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  fake.server.fault = () => ({ status: 404, body: { message: 'Integration not found' } });
  await assert.rejects(forge.statuses(COMMIT, live), (error) => {
    assert.ok(isError(error, 'ForgeAuthFailed'));
    assert.match(error.message, /installation 77 .*statuses: write/);
    return true;
  });
  await forge.close();
});
