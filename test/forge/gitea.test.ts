import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { openFake } from './support/fake-forge.ts';
import { startGitea } from './support/gitea.ts';

const live = new AbortController().signal;

test('makes a webhook anew to change its secret, which Gitea can not, and never leaves the repository without one', async (t) => {
  const fake = await startGitea('gitea');
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  const url = 'https://agent.example.com/h';
  await forge.ensureWebhook({ url, secret: 'old' }, live);
  fake.server.requests.length = 0;
  await forge.ensureWebhook({ url, secret: 'new' }, live);
  assert.deepEqual(
    fake.server.requests.map(({ method }) => method),
    ['GET', 'POST', 'DELETE'],
  );
  assert.deepEqual(fake.state.hooks[0]?.sent.config, { url, secret: 'new', content_type: 'json' });
  await forge.close();
});

test('an answer without end is given up at its bound', async (t) => {
  const fake = await startGitea('gitea');
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  fake.server.fault = () => ({ status: 200, body: 'x'.repeat(11 * 1024 * 1024) });
  await assert.rejects(forge.openPullRequests(live), (error) => {
    assert.ok(isError(error, 'ForgeBadAnswer'));
    assert.match(error.message, /larger than 10 MiB/);
    return true;
  });
  await forge.close();
});

test('pages that lead round in a circle end in an error', async (t) => {
  const fake = await startGitea('gitea');
  t.after(() => fake.close());
  const { forge } = openFake(fake);
  fake.server.fault = () => ({
    status: 200,
    body: [],
    headers: { link: '<https://x.example.com/?page=2>; rel="next"' },
  });
  await assert.rejects(forge.openPullRequests(live), (error) => isError(error, 'ForgeBadAnswer'));
  await forge.close();
});
