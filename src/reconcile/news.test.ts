import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plugin, SyncStatus } from '../api/index.ts';
import { mayEndRollout } from './news.ts';

function plugin(phase: 'Progressing' | 'Ready'): Plugin {
  return { metadata: { name: 'a' }, status: { phase } } as unknown as Plugin;
}

const READY: SyncStatus = { phase: 'Ready', commit: 'new' };

test('a Plugin that turns ready, or is gone, may end the rollout of its Sync', () => {
  const [busy, done] = [plugin('Progressing'), plugin('Ready')];
  for (const status of [undefined, { ...READY, phase: 'Progressing' as const }, { ...READY, commit: 'old' }]) {
    assert.equal(mayEndRollout(busy, done, status, 'new'), true);
    assert.equal(mayEndRollout(done, undefined, status, 'new'), true);
    assert.equal(mayEndRollout(done, busy, status, 'new'), false);
    assert.equal(mayEndRollout(done, done, status, 'new'), false);
  }
  assert.equal(mayEndRollout(busy, done, READY, 'new'), false, 'nobody waits for that');
});
