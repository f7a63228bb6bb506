import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { isError } from '../api/index.ts';
import { createGuard } from './leaderguard.ts';

function start(forMs: number) {
  const clock = new FakeClock(0);
  return { clock, guard: createGuard(forMs, () => clock.now(), clock) };
}

const lost = (error: unknown) => isError(error, 'LeaseLost');

test('the guard lets writes pass while the lease is held, and renewals prolong it', async () => {
  const { clock, guard } = start(7_000);
  await clock.advance(6_000);
  guard.check();
  guard.extend(13_000);
  await clock.advance(6_000);
  guard.check();
  await clock.advance(1_000);
  assert.throws(() => guard.check(), lost);
  assert.ok(guard.signal.aborted);
});

test('a process that was stopped finds the guard ended before any timer has fired', () => {
  const { clock, guard } = start(7_000);
  clock.jump(60_000);
  assert.throws(() => guard.check(), lost);
  assert.ok(guard.signal.aborted);
});

test('a renewal answered too late does not bring the lease back', () => {
  const { clock, guard } = start(7_000);
  clock.jump(8_000);
  guard.extend(15_000);
  assert.throws(() => guard.check(), lost);
});

test('while work winds down the last writes still pass', () => {
  const { guard } = start(7_000);
  guard.windDown();
  assert.ok(guard.signal.aborted);
  guard.check();
  guard.end('it was given up');
  assert.throws(() => guard.check(), lost);
});
