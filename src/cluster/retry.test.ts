import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, EspalierError } from '../api/index.ts';
import { type Repeat, retryDelay } from './retry.ts';

function delay(
  code: ErrorCode,
  repeat: Repeat,
  details: { retryAfterMs?: number; data?: Record<string, unknown> } = {},
  attempt = 1,
) {
  return retryDelay(new EspalierError(code, '', details), repeat, attempt, () => 0.5);
}

for (const [title, code, data, repeatable, once] of [
  ['too many requests', 'KubeThrottled', { status: 429 }, true, true],
  ['no connection', 'KubeUnreachable', { sent: false }, true, true],
  ['a connection lost after sending', 'KubeUnreachable', { sent: true }, true, false],
  ['an internal error', 'KubeServerError', { status: 500 }, true, false],
  ['a time-out of the server', 'KubeTimedOut', { status: 504 }, true, false],
  ['our own deadline', 'KubeTimedOut', { sent: true }, false, false],
  ['an answer that broke off', 'KubeBadAnswer', { sent: true }, true, false],
  ['an answer that makes no sense', 'KubeBadAnswer', {}, false, false],
  ['a conflict', 'KubeConflict', { status: 409 }, false, false],
  ['missing rights', 'KubeForbidden', { status: 403 }, false, false],
] as const) {
  test(`after ${title} reads ${repeatable ? 'are' : 'are not'} repeated, creates ${once ? 'are' : 'are not'}`, () => {
    assert.equal(delay(code, 'repeatable', { data }) !== undefined, repeatable);
    assert.equal(delay(code, 'once', { data }) !== undefined, once);
  });
}

test('the wait is never shorter than what the server asked for', () => {
  assert.equal(delay('KubeThrottled', 'once', { retryAfterMs: 3_000 }), 3_100);
});

test('a wait that is too long is left to the caller', () => {
  assert.equal(delay('KubeThrottled', 'repeatable', { retryAfterMs: 60_000 }), undefined);
});

test('the fourth try is the last', () => {
  assert.notEqual(delay('KubeThrottled', 'repeatable', {}, 3), undefined);
  assert.equal(delay('KubeThrottled', 'repeatable', {}, 4), undefined);
});
