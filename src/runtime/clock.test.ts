import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { sleep, systemClock } from './clock.ts';

test('a system timer fires, and a cleared one does not', async () => {
  const fired: string[] = [];
  const cleared = systemClock.setTimeout(() => fired.push('cleared'), 1);
  cleared.clear();
  await sleep(5, { clock: systemClock });
  assert.deepEqual(fired, []);
});

test('a system timer of a month does not fire at once', async () => {
  let fired = false;
  const timer = systemClock.setTimeout(() => {
    fired = true;
  }, 30 * 86_400_000);
  await sleep(5, { clock: systemClock });
  timer.clear();
  assert.equal(fired, false);
});

test('a sleeper wakes in time, and leaves no listener on its signal', async () => {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  let awake = false;
  void sleep(1_000, { clock, signal }).then(() => {
    awake = true;
  });
  await clock.advance(999);
  assert.equal(awake, false);
  await clock.advance(1);
  assert.equal(awake, true);
});

test('an aborted sleeper rejects with the reason and leaves no timer', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const sleeper = sleep(1_000, { clock, signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(sleeper, /enough/);
  assert.equal(clock.pending, 0);
  await assert.rejects(sleep(1, { clock, signal: abort.signal }), /enough/);
});
