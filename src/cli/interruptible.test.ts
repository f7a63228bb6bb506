import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interruptible } from './interruptible.ts';

test('whatever was going on when somebody pressed Ctrl-C, the command says that it was interrupted', async () => {
  const before = process.listeners('SIGINT');
  const work = interruptible(async (signal) => {
    // Not the signal itself: the tests around this one listen too.
    const ours = process.listeners('SIGINT').filter((one) => !before.includes(one));
    for (const listener of ours) listener('SIGINT');
    assert.ok(signal.aborted);
    throw new Error('sh was stopped because its caller gave up');
  });
  await assert.rejects(work, { code: 'Aborted', message: 'interrupted; run it again to go on' });
  assert.deepEqual(process.listeners('SIGINT'), before);
  await assert.rejects(
    interruptible(() => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
});
