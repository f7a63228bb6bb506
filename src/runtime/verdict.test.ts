import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError } from '../api/index.ts';
import { verdictOf } from './verdict.ts';

test('an unknown error is tried again with back-off', () => {
  assert.deepEqual(verdictOf(new Error('x')), { retry: 'backoff' });
  assert.deepEqual(verdictOf(undefined), { retry: 'backoff' });
});

test('a server that asked to wait is waited for', () => {
  const error = new EspalierError('KubeThrottled', 'slow down', { retryAfterMs: 7_000 });
  assert.deepEqual(verdictOf(error), { retry: 'backoff', atLeastMs: 7_000 });
});

test('what a user must mend is tried again, but seldom', () => {
  assert.deepEqual(verdictOf(new EspalierError('GitBadUrl', 'x', { retry: false })), { retry: 'slow' });
});
