import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { withDeadline } from './deadline.ts';

test('ends a step that takes too long, even one that does not listen', async () => {
  let told = false;
  await assert.rejects(
    withDeadline('Waiting', 20, [], (signal) => {
      signal.addEventListener('abort', () => {
        told = true;
      });
      return new Promise(() => undefined);
    }),
    { code: 'GitTimedOut', message: 'Waiting did not end within 0.02 s.' },
  );
  assert.ok(told);
});

test('passes on what a step gives or throws, and an abort, and leaves no listener', async () => {
  const controller = new AbortController();
  assert.equal(await withDeadline('x', 1000, [controller.signal], async () => 7), 7);
  await assert.rejects(
    withDeadline('x', 1000, [controller.signal], async () => Promise.reject(new Error('mine'))),
    /mine/,
  );
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  setTimeout(() => controller.abort(), 10);
  await assert.rejects(
    withDeadline('x', 1000, [controller.signal], () => new Promise(() => undefined)),
    { code: 'Aborted' },
  );
  await assert.rejects(
    withDeadline('x', 1000, [controller.signal], () => new Promise(() => undefined)),
    { code: 'Aborted' },
  );
});
