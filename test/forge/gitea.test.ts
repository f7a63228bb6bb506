import assert from 'node:assert/strict';
import { test } from 'node:test';
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
