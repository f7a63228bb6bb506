import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Crowd } from './crowd.ts';

test('what a revision is about to bring belongs to the crowd until it has come, or will not come', async () => {
  const queue = { depth: 3, running: 2 };
  const crowd = new Crowd(queue);
  assert.equal(crowd.isThere, false);
  await crowd.awaiting(12, async (come) => {
    assert.equal(crowd.isThere, true);
    come();
    assert.equal(crowd.isThere, true, 'the other eleven, and five that are there');
    come();
    assert.equal(crowd.isThere, false);
    queue.depth += 2;
    assert.equal(crowd.isThere, true);
  });
  assert.equal(crowd.isThere, false);
  await assert.rejects(
    crowd.awaiting(100, () => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(crowd.isThere, false);
});
