import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError } from '../api/index.ts';
import { nextWait } from './watch-wait.ts';

const error = new EspalierError('KubeUnreachable', '');

test('the first try after a break comes soon, later ones ever later, up to ten seconds', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 40].map((failures) => nextWait({ kind: 'failed', error }, failures, () => 1));
  assert.deepEqual(waits, [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
});

test('waits of many watches are spread', () => {
  assert.equal(
    nextWait({ kind: 'short' }, 5, () => 0),
    800,
  );
  assert.equal(
    nextWait({ kind: 'short' }, 5, () => 1),
    3_200,
  );
});

test('the server’s wish to wait is respected', () => {
  const throttled = new EspalierError('KubeThrottled', '', { retryAfterMs: 7_000 });
  assert.equal(
    nextWait({ kind: 'failed', error: throttled }, 1, () => 0.5),
    7_000,
  );
});

test('a kind that is not served is asked for every second at first, then twice a minute', () => {
  const wait = (failures: number) => nextWait({ kind: 'unknown', error }, failures, () => 0.5);
  assert.equal(wait(1), 1_000);
  assert.equal(wait(20), 30_000);
});
