import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { ServerVersion } from './server-version.ts';

const MINUTE = 60_000;

function server(first: string) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const said = { answer: first as string | Error, asked: 0, changes: [] as (string | undefined)[] };
  const version = new ServerVersion({
    async ask() {
      said.asked += 1;
      if (said.answer instanceof Error) throw said.answer;
      return said.answer;
    },
    clock,
    signal: stop.signal,
    onChange: () => said.changes.push(version.known),
  });
  return { clock, stop, said, version };
}

describe('the version of the API server', () => {
  test('is noticed within minutes though no watch was dropped, at the cost of a question every five', async () => {
    const { clock, said, version } = server('v1.35.2');
    await version.start();
    said.answer = 'v1.36.3';
    await clock.advance(6 * MINUTE);
    assert.deepEqual(said.changes, ['v1.35.2', 'v1.36.3']);
    said.asked = 0;
    await clock.advance(60 * MINUTE);
    assert.ok(said.asked >= 10 && said.asked <= 12, `${said.asked}`);
    assert.equal(said.changes.length, 2);
  });

  test('is asked once, and soon, when many watches are interrupted', async () => {
    const { clock, said, version } = server('v1.35.2');
    await version.start();
    said.answer = 'v1.36.3';
    for (let at = 0; at < 20; at += 1) version.doubt();
    await clock.advance(5_000);
    assert.deepEqual([said.asked, version.known], [2, 'v1.36.3']);
  });

  test('is what it was while the server does not answer', async () => {
    const { clock, said, version } = server('v1.35.2');
    await version.start();
    said.answer = new Error('down');
    version.doubt();
    await clock.advance(MINUTE);
    assert.equal(version.known, 'v1.35.2');
    said.answer = 'v1.36.3';
    await clock.advance(6 * MINUTE);
    assert.equal(version.known, 'v1.36.3');
  });

  test('does not go back and forth while servers are upgraded one by one', async () => {
    const { clock, said, version } = server('v1.35.2');
    await version.start();
    for (const answer of ['v1.36.3', 'v1.35.2', 'v1.36.3', 'v1.35.2', 'v1.36.3']) {
      said.answer = answer;
      version.doubt();
      await clock.advance(5_000);
    }
    assert.deepEqual(said.changes, ['v1.35.2', 'v1.36.3']);
  });

  test('goes back when the older one stays, as after an upgrade that was undone', async () => {
    const { clock, said, version } = server('v1.36.3');
    await version.start();
    said.answer = 'v1.35.2';
    version.doubt();
    await clock.advance(30_000);
    assert.equal(version.known, 'v1.36.3');
    await clock.advance(MINUTE);
    assert.equal(version.known, 'v1.35.2');
  });

  test('is not asked any more once the agent ends', async () => {
    const { clock, stop, said, version } = server('v1.35.2');
    await version.start();
    version.doubt();
    stop.abort();
    await clock.advance(60 * MINUTE);
    assert.equal(said.asked, 1);
  });
});
