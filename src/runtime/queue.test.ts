import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { WorkQueue } from './queue.ts';

const backoff = { baseMs: 1_000, factor: 2, capMs: 8_000, jitter: 0 };

function newQueue(): { queue: WorkQueue; clock: FakeClock } {
  const clock = new FakeClock();
  return { queue: new WorkQueue({ clock, backoff, random: () => 0 }), clock };
}

test('a key that is added twice runs once', () => {
  const { queue } = newQueue();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.take(), 'a');
  assert.equal(queue.take(), undefined);
});

test('a key that is added while it runs runs once more, and not before it ended', () => {
  const { queue } = newQueue();
  queue.add('a');
  queue.take();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.take(), undefined);
  queue.done('a');
  assert.equal(queue.take(), 'a');
  queue.done('a');
  assert.equal(queue.take(), undefined);
});

test('the earliest of several wishes for a time wins', async () => {
  const { queue, clock } = newQueue();
  queue.add('a', { after: 5_000 });
  queue.add('a', { after: 1_000 });
  queue.add('a', { after: 9_000 });
  await clock.advance(999);
  assert.equal(queue.take(), undefined);
  await clock.advance(1);
  assert.equal(queue.take(), 'a');
  queue.done('a');
  await clock.advance(60_000);
  assert.equal(queue.take(), undefined);
});

test('a wish that a waiting key fulfils already sets no other timer, a more urgent one does', async () => {
  const clock = new FakeClock();
  let timers = 0;
  const counting = {
    now: () => clock.now(),
    setTimeout(fn: () => void, ms: number) {
      timers++;
      return clock.setTimeout(fn, ms);
    },
  };
  const queue = new WorkQueue({ clock: counting, backoff, random: () => 0 });
  queue.add('a', { after: 1_000 });
  queue.add('b', { after: 1_000 });
  for (let times = 0; times < 10; times++) queue.add('a', { after: 1_000 + times });
  assert.equal(timers, 2);
  queue.add('b', { after: 5_000, priority: 1 });
  queue.add('b', { after: 5_000 });
  assert.equal(timers, 3);
  await clock.advance(1_000);
  assert.equal(queue.take(), 'b');
  assert.equal(queue.take(), 'a');
  assert.equal(clock.pending, 0);
});

test('a key that waits is woken in time where the clock was set back or forth meanwhile', () => {
  for (const by of [-3_600_000, 3_600_000]) {
    const { queue, clock } = newQueue();
    queue.add('a', { after: 1_000 });
    clock.jump(by);
    queue.add('a');
    assert.equal(queue.take(), 'a');
    assert.equal(clock.pending, 0);
  }
});

test('a wish for later does not hold back a key that is ready', () => {
  const { queue } = newQueue();
  queue.add('a');
  queue.add('a', { after: 5_000 });
  assert.equal(queue.take(), 'a');
});

test('a wish for later made during a run counts beside the run’s own', async () => {
  const { queue, clock } = newQueue();
  queue.add('a');
  queue.take();
  queue.add('a', { after: 2_000 });
  queue.done('a', { requeueAfterMs: 60_000 });
  await clock.advance(2_000);
  assert.equal(queue.take(), 'a');
});

test('a failing key comes back later each time, up to the cap, and starts afresh after a success', async () => {
  const { queue } = newQueue();
  const waits = [1, 2, 3, 4, 5].map(() => {
    queue.add('a');
    queue.take();
    return queue.fail('a');
  });
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 8_000]);
  assert.equal(queue.failuresOf('a'), 5);
  queue.done('a');
  assert.equal(queue.failuresOf('a'), 0);
  assert.equal(queue.fail('a'), 1_000);
});

test('a failing key waits as long as the server asked for', () => {
  const { queue } = newQueue();
  assert.equal(queue.fail('a', { atLeastMs: 30_000 }), 30_000);
  assert.equal(queue.fail('b', { atLeastMs: 1 }), 1_000);
});

test('a failure that trying again cannot mend is retried at the longest wait', () => {
  const { queue } = newQueue();
  assert.equal(queue.fail('a', { slow: true }), 8_000);
});

test('a key whose failing run woke it again rests before it runs', async () => {
  const { queue, clock } = newQueue();
  queue.add('a');
  queue.take();
  queue.add('a');
  queue.fail('a');
  assert.equal(queue.take(), undefined);
  await clock.advance(499);
  assert.equal(queue.take(), undefined);
  await clock.advance(1);
  assert.equal(queue.take(), 'a');
});

test('an event after the rest ends the back-off of a failing key', async () => {
  const { queue, clock } = newQueue();
  queue.fail('a', { slow: true });
  await clock.advance(3_000);
  queue.add('a');
  assert.equal(queue.take(), 'a');
});

test('tells depth, delayed, running and the age of the oldest key', async () => {
  const { queue, clock } = newQueue();
  queue.add('a');
  await clock.advance(300);
  queue.add('b');
  queue.add('c', { after: 5_000 });
  await clock.advance(200);
  assert.deepEqual([queue.depth, queue.delayed, queue.running, queue.oldestAgeMs], [2, 1, 0, 500]);
  queue.take();
  assert.deepEqual([queue.depth, queue.delayed, queue.running, queue.oldestAgeMs], [1, 1, 1, 200]);
});

test('a clock that is set back makes no negative age', () => {
  const { queue, clock } = newQueue();
  queue.add('a');
  clock.jump(-60_000);
  assert.equal(queue.oldestAgeMs, 0);
});

test('a closed queue takes nothing, adds nothing and leaves no timer', () => {
  const { queue, clock } = newQueue();
  queue.add('a');
  queue.add('b', { after: 1_000 });
  queue.close();
  queue.add('c');
  assert.equal(queue.take(), undefined);
  assert.equal(clock.pending, 0);
});

test('a delay that is no number is refused rather than run at once for ever', () => {
  assert.throws(() => newQueue().queue.add('a', { after: Number.NaN }), RangeError);
});
