import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Share } from './share.ts';

test('equal work at one time is done once, and again later', async () => {
  const share = new Share();
  let done = 0;
  const step = async (): Promise<number> => ++done;
  assert.deepEqual(
    await Promise.all([
      share.run('a', undefined, step),
      share.run('a', undefined, step),
      share.run('b', undefined, step),
    ]),
    [1, 1, 2],
  );
  assert.equal(await share.run('a', undefined, step), 3);
});

test('who gives up leaves at once; the work ends when the last one has left', async () => {
  const share = new Share();
  const { promise, resolve } = Promise.withResolvers<string>();
  let ended = false;
  const step = (signal: AbortSignal): Promise<string> => {
    signal.addEventListener('abort', () => {
      ended = true;
    });
    return promise;
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const leaving = share.run('a', first.signal, step);
  const staying = share.run('a', second.signal, step);
  first.abort();
  await assert.rejects(leaving, { code: 'Aborted' });
  assert.equal(ended, false);
  resolve('done');
  assert.equal(await staying, 'done');
  const alone = new AbortController();
  ended = false;
  const abandoned = share.run('b', alone.signal, (signal) => step(signal).then(() => new Promise<string>(() => {})));
  alone.abort();
  await assert.rejects(abandoned, { code: 'Aborted' });
  assert.equal(ended, true);
  assert.equal(await share.run('b', undefined, async () => 'anew'), 'anew');
});

test("a failure is everybody's, and is not kept", async () => {
  const share = new Share();
  const fail = async (): Promise<never> => {
    throw new Error('no');
  };
  const all = await Promise.allSettled([share.run('a', undefined, fail), share.run('a', undefined, fail)]);
  assert.deepEqual(
    all.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await share.run('a', undefined, async () => 1), 1);
});
