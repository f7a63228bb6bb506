import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { createLimit } from './limit.ts';

/** Tasks that say that they began, and end when told to. */
function tasks(options: { limit: number; most?: number }) {
  const clock = new FakeClock();
  const limit = createLimit({ clock, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string): Promise<void> =>
    limit(() => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    });
  return { clock, begun, start, end: (name: string) => ends.get(name)?.() };
}

test('runs so many at once, and the next when one ends', async () => {
  const { clock, begun, start, end } = tasks({ limit: 2 });
  for (const name of ['a', 'b', 'c', 'd']) void start(name);
  await clock.advance(1_000);
  assert.deepEqual(begun, ['a', 'b']);
  end('b');
  await clock.advance(0);
  assert.deepEqual(begun, ['a', 'b', 'c']);
});

test('tasks that never end hold up the others for a while, and not for ever', async () => {
  const { clock, begun, start } = tasks({ limit: 1, most: 3 });
  for (const name of ['endless', 'endless too', 'quick', 'late']) void start(name);
  await clock.advance(4_999);
  assert.deepEqual(begun, ['endless']);
  await clock.advance(5_001);
  assert.deepEqual(begun, ['endless', 'endless too', 'quick']);
  await clock.advance(60_000);
  assert.equal(begun.length, 3, 'there is an end to what is lent');
});

test('a slow task that ends gives back what was lent, and no more', async () => {
  const { clock, begun, start, end } = tasks({ limit: 1 });
  for (const name of ['slow', 'a', 'b']) void start(name);
  await clock.advance(5_000);
  assert.deepEqual(begun, ['slow', 'a']);
  end('slow');
  await clock.advance(1_000);
  assert.deepEqual(begun, ['slow', 'a'], 'the place of a is its own');
});

test('a task that fails gives its place up too', async () => {
  const limit = createLimit({ limit: 1, clock: new FakeClock() });
  await assert.rejects(
    limit(() => Promise.reject(new Error('no'))),
    /no/,
  );
  assert.equal(await limit(() => Promise.resolve('yes')), 'yes');
});
