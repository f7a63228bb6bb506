import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { createSleeper, createSteadyClock, microTime } from './timing.ts';

test('the steady clock counts a suspended machine and ignores a clock set back', () => {
  let monotonic = 0;
  let wall = 1_000_000;
  const now = createSteadyClock(
    () => monotonic,
    () => wall,
  );
  monotonic += 500;
  wall += 500;
  assert.equal(now(), 500);
  wall += 60_000; // suspended: the monotonic clock stood still
  assert.equal(now(), 60_500);
  monotonic += 100;
  wall -= 3_600_000; // set back
  assert.equal(now(), 60_600);
});

test('a wait that is cut short ends, and a wake in advance cuts the next one', async () => {
  const clock = new FakeClock();
  const sleeper = createSleeper(clock, new AbortController().signal);
  const first = sleeper.sleep(1_000);
  sleeper.wake();
  await first;
  sleeper.wake();
  await sleeper.sleep(1_000);
  assert.equal(clock.pending, 0);
});

test('times are written with microseconds', () => {
  assert.equal(microTime(Date.parse('2026-01-02T03:04:05.678Z')), '2026-01-02T03:04:05.678000Z');
});
