import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { EspalierError } from '../api/index.ts';
import { nextRun, schedule, windowOpen } from './cron.ts';

const at = (text: string): number => Date.parse(text);

function record(spec: string, options: { jitter?: number; random?: () => number } = {}) {
  const clock = new FakeClock('2026-03-01T10:00:10Z');
  const abort = new AbortController();
  const runs: string[] = [];
  const fn = (): void => void runs.push(new Date(clock.now()).toISOString().slice(11, 19));
  schedule(spec, fn, { clock, signal: abort.signal, jitter: 0, ...options });
  return { clock, abort, runs };
}

test('the next run of a duration is that much later', () => {
  assert.equal(nextRun('1m30s', 1_000), 91_000);
});

test('the next run of a cron expression is in its time zone', () => {
  assert.equal(nextRun('0 2 * * *', at('2026-03-01T10:00:00Z'), 'Asia/Tokyo'), at('2026-03-01T17:00:00Z'));
});

test('an interval under a second is refused', () => {
  for (const spec of ['0s', '10ms']) assert.throws(() => nextRun(spec, 0), /interval of 1s or more/);
});

test('a cron schedule runs on the minute, until it is aborted', async () => {
  const { clock, abort, runs } = record('*/1 * * * *');
  await clock.advance(3 * 60_000);
  assert.deepEqual(runs, ['10:01:00', '10:02:00', '10:03:00']);
  abort.abort();
  await clock.advance(5 * 60_000);
  assert.equal(runs.length, 3);
  assert.equal(clock.pending, 0);
});

test('an interval keeps its rhythm', async () => {
  const { clock, runs } = record('45s');
  await clock.advance(3 * 60_000);
  assert.deepEqual(runs, ['10:00:55', '10:01:40', '10:02:25', '10:03:10']);
});

test('jitter makes a run late by its share of the interval, and does not add up', async () => {
  const { clock, runs } = record('60s', { jitter: 0.1, random: () => 0.5 });
  await clock.advance(3 * 60_000 + 5_000);
  assert.deepEqual(runs, ['10:01:13', '10:02:13', '10:03:13']);
});

test('jitter of a daily run stays under half a minute', async () => {
  const { clock, runs } = record('0 12 * * *', { jitter: 0.5, random: () => 0.999 });
  await clock.advance(24 * 3_600_000);
  assert.deepEqual(runs, ['12:00:29']);
});

test('runs that a sleeping machine missed count as one', async () => {
  const { clock, runs } = record('*/1 * * * *');
  clock.jump(3_600_000);
  await clock.advance(60_000);
  assert.deepEqual(runs, ['11:01:00']);
});

test('a long sleep notices within a minute that the clock moved', async () => {
  const { clock, runs } = record('0 12 * * *');
  clock.jump(at('2026-03-01T12:00:00Z') - clock.now());
  await clock.advance(60_000);
  assert.deepEqual(runs, ['12:01:00']);
});

test('a clock that is set back by an hour does not stop an interval for an hour', async () => {
  const { clock, runs } = record('30s');
  clock.jump(-3_600_000);
  await clock.advance(90_000);
  assert.deepEqual(runs, ['09:01:10', '09:01:40']);
});

test('a schedule that nobody can read is refused at once', () => {
  assert.throws(() => record('soon'), /"soon" is neither a cron expression nor a duration/);
});

test('a schedule whose signal is aborted already never runs', async () => {
  const clock = new FakeClock();
  schedule('30s', () => assert.fail('ran'), { clock, signal: AbortSignal.abort() });
  assert.equal(clock.pending, 0);
});

const nightly = { cron: '0 2 * * *', for: '2h' };

test('a window is open from its cron time for its length', () => {
  const open = { open: true, until: at('2026-03-01T04:00:00Z') };
  assert.deepEqual(windowOpen(nightly, at('2026-03-01T02:00:00Z')), open);
  assert.deepEqual(windowOpen(nightly, at('2026-03-01T03:59:59.999Z')), open);
});

test('outside a window the next opening is known', () => {
  const closed = (day: string) => ({ open: false, opensAt: at(`${day}T02:00:00Z`) });
  assert.deepEqual(windowOpen(nightly, at('2026-03-01T01:59:59Z')), closed('2026-03-01'));
  assert.deepEqual(windowOpen(nightly, at('2026-03-01T04:00:00Z')), closed('2026-03-02'));
});

test('a window follows its time zone', () => {
  const state = windowOpen({ ...nightly, timezone: 'Asia/Tokyo' }, at('2026-03-01T17:30:00Z'));
  assert.deepEqual(state, { open: true, until: at('2026-03-01T19:00:00Z') });
});

test('a window longer than the time between its openings never closes', () => {
  for (let hour = 0; hour < 24; hour++) {
    assert.equal(
      windowOpen({ cron: '0 */2 * * *', for: '3h' }, at('2026-03-01T00:00:00Z') + hour * 3_600_000).open,
      true,
    );
  }
});

test('a window of no length or with an interval for a time is refused', () => {
  for (const length of ['0s', 'x', '']) {
    assert.throws(() => windowOpen({ cron: '0 2 * * *', for: length }, 0), EspalierError);
  }
  assert.throws(() => windowOpen({ cron: '30s', for: '1h' }, 0), /"30s"/);
});
