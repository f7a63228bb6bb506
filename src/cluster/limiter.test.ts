import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createLimiter } from './limiter.ts';

test('no more than the limit are under way, and the first to ask goes first', async () => {
  const limiter = createLimiter({ inFlight: 2 });
  const order: number[] = [];
  const [first, second] = await Promise.all([limiter.acquire(), limiter.acquire()]);
  const take = async (name: number) => {
    const release = await limiter.acquire();
    order.push(name);
    return release;
  };
  const third = take(3);
  const fourth = take(4);
  assert.equal(limiter.waiting, 2);
  first();
  (await third)();
  second();
  (await fourth)();
  assert.deepEqual(order, [3, 4]);
  assert.equal(limiter.waiting, 0);
});

test('a place given back twice counts once', async () => {
  const limiter = createLimiter({ inFlight: 1 });
  const release = await limiter.acquire();
  release();
  release();
  await limiter.acquire();
  const blocked = limiter.acquire();
  assert.equal(await Promise.race([blocked.then(() => 'free'), delay(5, 'taken')]), 'taken');
});

test('who is aborted while waiting leaves the line', async () => {
  const limiter = createLimiter({ inFlight: 1 });
  const release = await limiter.acquire();
  const controller = new AbortController();
  const gone = limiter.acquire(controller.signal);
  const next = limiter.acquire();
  controller.abort(new Error('stop'));
  await assert.rejects(gone, /stop/);
  release();
  (await next)();
});

test('a rate lets a burst through, and then so many a second', async () => {
  const limiter = createLimiter({ inFlight: 100, qps: 50, burst: 3 });
  const started = performance.now();
  for (let i = 0; i < 15; i++) (await limiter.acquire())();
  const ms = performance.now() - started;
  // On a machine that is far too busy twenty milliseconds are many; one a second would be twelve seconds still.
  assert.ok(ms >= 200 && ms < 10_000, `3 at once and 12 at 20 ms each took ${ms} ms`);
});
