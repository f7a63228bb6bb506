import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { exclusively } from './exclusive.ts';

test('runs steps of one key one after another in order, failures included, and other keys meanwhile', async () => {
  const events: string[] = [];
  const step = (key: string, name: string, fail = false): Promise<string> =>
    exclusively(key, async () => {
      events.push(`${name} starts`);
      await turn();
      events.push(`${name} ends`);
      if (fail) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([step('x', 'a', true), step('x', 'b'), step('y', 'c')]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  );
  const ofX = events.filter((event) => !event.startsWith('c'));
  assert.deepEqual(ofX, ['a starts', 'a ends', 'b starts', 'b ends']);
  assert.ok(events.indexOf('c starts') < events.indexOf('a ends'));
});
