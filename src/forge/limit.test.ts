import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gate, Gates, limitOf } from './limit.ts';

const NOW = Date.parse('2026-11-18T12:00:00Z');
const date = 'Wed, 18 Nov 2026 12:00:30 GMT';

test('waits as long as Retry-After says, in seconds or until a date by the clock of the forge', () => {
  assert.equal(limitOf({ status: 429, headers: { 'retry-after': '7' }, text: '' }, NOW, 0), 7000);
  const until = { 'retry-after': 'Wed, 18 Nov 2026 12:01:00 GMT', date };
  assert.equal(limitOf({ status: 429, headers: until, text: '' }, NOW, 0), 30_000);
});

test('waits for the reset of a spent limit, told as a time or as a span', () => {
  const at = String(Date.parse('2026-11-18T12:10:30Z') / 1000);
  for (const headers of [
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': at, date },
    { 'ratelimit-remaining': '0', 'ratelimit-reset': '600' },
  ]) {
    assert.equal(limitOf({ status: 403, headers, text: '' }, NOW, 0), 600_000);
  }
});

test('tells a secondary limit from a missing permission', () => {
  const text = '{"message":"You have exceeded a secondary rate limit. Please wait."}';
  assert.equal(limitOf({ status: 403, headers: { 'x-ratelimit-remaining': '42' }, text }, NOW, 0), 60_000);
  const forbidden = { status: 403, headers: { 'x-ratelimit-remaining': '42' }, text: '{"message":"Forbidden"}' };
  assert.equal(limitOf(forbidden, NOW, 0), undefined);
});

test('doubles the wait where no time is told, to an hour at most', () => {
  const waits = [0, 1, 2, 9].map((refusals) => limitOf({ status: 429, headers: {}, text: '' }, NOW, refusals));
  assert.deepEqual(waits, [60_000, 120_000, 240_000, 3_600_000]);
  assert.equal(limitOf({ status: 429, headers: { 'retry-after': '999999' }, text: '' }, NOW, 0), 3_600_000);
});

test('an ordinary answer opens the way again, and one that was the last closes it', () => {
  const gate = new Gate([]);
  assert.equal(gate.learn({ status: 429, headers: {}, text: '' }, NOW), 60_000);
  assert.equal(gate.wait(NOW + 59_999), 1);
  assert.equal(gate.wait(NOW + 60_000), 0);
  const last = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1000 + 90) };
  assert.equal(gate.learn({ status: 200, headers: last, text: '' }, NOW + 60_000), undefined);
  assert.equal(gate.wait(NOW + 60_000), 30_000);
});

test('counts writes in each window, and not those that have to wait', () => {
  const gate = new Gate([
    { ms: 1000, most: 2 },
    { ms: 10_000, most: 3 },
  ]);
  assert.deepEqual([gate.takeWrite(0), gate.takeWrite(100), gate.takeWrite(200), gate.takeWrite(999)], [0, 0, 800, 1]);
  assert.equal(gate.takeWrite(1000), 0);
  assert.equal(gate.takeWrite(5000), 5000);
  assert.equal(gate.takeWrite(10_000), 0);
});

test('without windows no write waits', () => {
  const gate = new Gate([]);
  for (let n = 0; n < 1000; n += 1) assert.equal(gate.takeWrite(n), 0);
});

test('one account has one gate, and few that are not used are kept', () => {
  const gates = new Gates(2);
  const first = gates.of('a', []);
  assert.equal(gates.of('a', []), first);
  gates.of('b', []);
  gates.of('a', []);
  gates.of('c', []);
  assert.equal(gates.of('a', []), first);
});
