import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { EspalierError, isError } from '../api/index.ts';
import { sleep } from './clock.ts';
import { type ControllerOptions, type RunOutcome, runController } from './controller.ts';
import { WorkQueue } from './queue.ts';

const backoff = { baseMs: 1_000, factor: 2, capMs: 60_000, jitter: 0 };

interface Scene {
  clock: FakeClock;
  queue: WorkQueue;
  /** `start a`, `end a`, in the order in which it happened. */
  log: string[];
  outcomes: [string, RunOutcome, number][];
  shutDown: () => void;
  ended: Promise<{ abandoned: string[] }>;
}

/** A controller whose runs take as long as `work` says. */
function play(
  work: (key: string, signal: AbortSignal, clock: FakeClock) => Promise<unknown>,
  options: Partial<ControllerOptions> = {},
): Scene {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, backoff, random: () => 0 });
  const stop = new AbortController();
  const log: string[] = [];
  const outcomes: Scene['outcomes'] = [];
  const ended = runController({
    name: 'Plugin',
    queue,
    clock,
    concurrency: 2,
    signal: stop.signal,
    reconcile: async (key, signal) => {
      log.push(`start ${key}`);
      try {
        await work(key, signal, clock);
      } finally {
        log.push(`end ${key}`);
      }
    },
    onFinish: (key, outcome, ms) => outcomes.push([key, outcome, ms]),
    ...options,
  });
  return { clock, queue, log, outcomes, shutDown: () => stop.abort(), ended };
}

const takes = (ms: number) => (_key: string, signal: AbortSignal, clock: FakeClock) => sleep(ms, { clock, signal });

test('runs no more keys at once than its limit', async () => {
  const { clock, queue, log } = play(takes(100));
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await clock.advance(0);
  assert.deepEqual(log, ['start a', 'start b']);
  await clock.advance(100);
  assert.deepEqual(log.slice(2), ['end a', 'start c', 'end b']);
});

test('of the keys added in one go the most urgent starts first', async () => {
  const { clock, queue, log } = play(takes(100), { concurrency: 1 });
  queue.add('low');
  queue.add('high', { priority: 1 });
  await clock.advance(100);
  assert.deepEqual(log, ['start high', 'end high', 'start low']);
});

test('keys that were added before the start run too', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock });
  queue.add('early');
  const ran: string[] = [];
  void runController({
    name: 'Plugin',
    queue,
    clock,
    concurrency: 1,
    signal: new AbortController().signal,
    reconcile: async (key) => void ran.push(key),
  });
  await clock.advance(0);
  assert.deepEqual(ran, ['early']);
});

test('a run that asks to come back does', async () => {
  let runs = 0;
  const { clock, queue } = play(takes(0), {
    reconcile: async () => ({ requeueAfterMs: ++runs < 3 ? 10_000 : 60_000 }),
  });
  queue.add('a');
  await clock.advance(25_000);
  assert.equal(runs, 3);
});

test('a failing run comes back with back-off, and tells of each failure', async () => {
  const failures: [string, number][] = [];
  const { clock, queue, outcomes } = play(() => Promise.reject(new Error('boom')), {
    onError: (key, _error, inARow) => {
      failures.push([key, inARow]);
      return undefined;
    },
  });
  queue.add('a');
  await clock.advance(1_000 + 2_000 + 4_000);
  assert.deepEqual(failures, [
    ['a', 1],
    ['a', 2],
    ['a', 3],
    ['a', 4],
  ]);
  assert.ok(outcomes.every(([, outcome]) => outcome === 'failure'));
});

test('a reconcile that throws before its first await is a failure like any other', async () => {
  const { clock, queue, outcomes } = play(takes(0), {
    reconcile: () => {
      throw new Error('at once');
    },
  });
  queue.add('a');
  await clock.advance(0);
  assert.deepEqual(outcomes, [['a', 'failure', 0]]);
});

test('a run that asks for an impossible time fails and is retried', async () => {
  const { clock, queue, outcomes } = play(takes(0), { reconcile: async () => ({ requeueAfterMs: Number.NaN }) });
  queue.add('a');
  await clock.advance(1_000);
  assert.equal(outcomes.length, 2);
  assert.equal(outcomes[0]?.[1], 'failure');
});

test('the classifier can have a key retried seldom, or forgotten', async () => {
  const { clock, queue, log } = play(() => Promise.reject(new Error('boom')), {
    onError: (key) => (key === 'gone' ? { retry: 'forget' } : { retry: 'slow' }),
  });
  queue.add('gone');
  queue.add('wrong');
  await clock.advance(59_999);
  assert.deepEqual(log, ['start gone', 'start wrong', 'end gone', 'end wrong']);
  await clock.advance(1);
  assert.deepEqual(log.slice(4), ['start wrong', 'end wrong']);
});

test('without a classifier the error says how to go on', async () => {
  const error = new EspalierError('KubeThrottled', 'slow down', { retryAfterMs: 30_000 });
  const { clock, queue, outcomes } = play(() => Promise.reject(error));
  queue.add('a');
  await clock.advance(29_999);
  assert.equal(outcomes.length, 1);
  await clock.advance(1);
  assert.equal(outcomes.length, 2);
});

test('a run over its deadline is aborted, named and retried', async () => {
  const errors: unknown[] = [];
  const { clock, queue, outcomes } = play(takes(Number.MAX_SAFE_INTEGER), {
    deadlineMs: 60_000,
    onError: (_key, error) => void errors.push(error),
  });
  queue.add('a');
  await clock.advance(61_000);
  assert.deepEqual(outcomes, [['a', 'deadline', 60_000]]);
  const [error] = errors;
  assert.ok(isError(error, 'DeadlineExceeded'));
  assert.equal(error.message, 'Plugin a took longer than 60 s');
  assert.equal(queue.running, 1, 'it runs again after its back-off');
});

test('what a run says about its end at the deadline is kept when it says more than that it stopped', async () => {
  const errors: unknown[] = [];
  const work = (_key: string, signal: AbortSignal, clock: FakeClock) =>
    sleep(90_000, { clock, signal }).catch((cause: unknown) => {
      throw new EspalierError('HealthTimedOut', 'Deployment web is not healthy', { cause });
    });
  const { clock, queue, outcomes } = play(work, {
    deadlineMs: 60_000,
    onError: (_key, error) => void errors.push(error),
  });
  queue.add('a');
  await clock.advance(60_000);
  assert.ok(isError(errors[0], 'HealthTimedOut'));
  assert.deepEqual(outcomes, [['a', 'deadline', 60_000]]);
});

test('keys that take for ever give their places to others', async () => {
  const work = (key: string, signal: AbortSignal, clock: FakeClock) =>
    sleep(key.startsWith('slow') ? 500_000 : 10, { clock, signal });
  const { clock, queue, log } = play(work, { slowAfterMs: 5_000 });
  for (const key of ['slow1', 'slow2', 'quick']) queue.add(key);
  await clock.advance(4_999);
  assert.ok(!log.includes('start quick'));
  await clock.advance(11);
  assert.ok(log.includes('end quick'));
  assert.equal(queue.running, 2);
});

test('places that are given away have a limit', async () => {
  const { clock, queue } = play(takes(500_000), { concurrency: 1, slowAfterMs: 1_000, maxRunning: 3 });
  for (let n = 0; n < 10; n++) queue.add(`slow${n}`);
  await clock.advance(60_000);
  assert.equal(queue.running, 3);
});

test('a run that ignores its signal keeps its key: it never runs twice at once', async () => {
  const { clock, queue, log } = play(() => new Promise(() => {}), { deadlineMs: 10_000 });
  queue.add('deaf');
  await clock.advance(20_000);
  queue.add('deaf');
  await clock.advance(3_600_000);
  assert.deepEqual(log, ['start deaf']);
});

test('a shutdown lets runs finish, starts none and leaves no timer', async () => {
  const { clock, queue, log, shutDown, ended } = play(takes(3_000), { concurrency: 1 });
  queue.add('a');
  queue.add('b');
  queue.add('later', { after: 60_000 });
  await clock.advance(100);
  shutDown();
  await clock.advance(3_000);
  assert.deepEqual(await ended, { abandoned: [] });
  assert.deepEqual(log, ['start a', 'end a']);
  assert.equal(clock.pending, 0);
});

test('a shutdown aborts what is not done after the grace period', async () => {
  const { clock, queue, outcomes, shutDown, ended } = play(takes(90_000), { graceMs: 5_000 });
  queue.add('a');
  await clock.advance(0);
  shutDown();
  await clock.advance(4_999);
  assert.deepEqual(outcomes, []);
  await clock.advance(1);
  assert.deepEqual(await ended, { abandoned: [] });
  assert.deepEqual(outcomes, [['a', 'aborted', 5_000]]);
});

test('a shutdown does not wait for runs that ignore it, and names them', async () => {
  const { clock, queue, shutDown, ended } = play(() => new Promise(() => {}), { graceMs: 5_000, unwindMs: 1_000 });
  queue.add('deaf');
  await clock.advance(0);
  shutDown();
  await clock.advance(6_000);
  assert.deepEqual(await ended, { abandoned: ['deaf'] });
});

test('a shutdown at rest ends at once', async () => {
  const { clock, shutDown, ended } = play(takes(0));
  await clock.advance(0);
  shutDown();
  assert.deepEqual(await ended, { abandoned: [] });
});
