import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { backoffMs, DEFAULT_BACKOFF } from './backoff.ts';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('waits double from the base to the cap when chance stays out', () => {
  const backoff = { baseMs: 1_000, factor: 2, capMs: 10_000, jitter: 0 };
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((failures) => backoffMs(failures, backoff, 0.7)),
    [1_000, 2_000, 4_000, 8_000, 10_000, 10_000],
  );
});

test('a wait is never longer than the cap nor shorter than its share without jitter', () => {
  fc.assert(
    fc.property(fc.oneof(fc.integer({ min: 1, max: 10_000 }), fc.constant(Infinity)), chance, (failures, random) => {
      const wait = backoffMs(failures, DEFAULT_BACKOFF, random);
      assert.ok(wait <= DEFAULT_BACKOFF.capMs);
      assert.ok(wait >= DEFAULT_BACKOFF.baseMs * (1 - DEFAULT_BACKOFF.jitter));
    }),
  );
});

test('keys that failed together come back at different times', () => {
  const waits = [0, 0.25, 0.5, 0.75].map((random) => backoffMs(5, DEFAULT_BACKOFF, random));
  assert.equal(new Set(waits).size, waits.length);
});
