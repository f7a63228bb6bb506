import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTask } from 'node-cron';
import { isError } from '../api/index.ts';
import { calendarOf } from './calendar.ts';

function nextIso(expression: string, from: string, timezone?: string): string | undefined {
  const next = calendarOf(expression, timezone).next(Date.parse(from));
  return next === undefined ? undefined : new Date(next).toISOString();
}

const cases: [expression: string, from: string, next: string, timezone?: string][] = [
  ['*/5 * * * *', '2026-03-01T10:01:30Z', '2026-03-01T10:05:00.000Z'],
  ['*/5 * * * *', '2026-03-01T10:05:00Z', '2026-03-01T10:10:00.000Z'],
  ['*/15 * * * * *', '2026-03-01T10:05:00.250Z', '2026-03-01T10:05:15.000Z'],
  ['0 2 * * *', '2026-03-01T10:00:00Z', '2026-03-02T02:00:00.000Z'],
  ['0 2 * * *', '2026-03-01T10:00:00Z', '2026-03-02T01:00:00.000Z', 'Europe/Berlin'],
  ['@daily', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00.000Z'],
  ['0 0 L * *', '2028-02-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0 3 * * mon#2', '2026-03-01T00:00:00Z', '2026-03-09T03:00:00.000Z'],
  ['0 0 29 2 *', '2026-03-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0 22 * * fri-sat', '2026-03-01T00:00:00Z', '2026-03-06T22:00:00.000Z'],
];

for (const [expression, from, next, timezone] of cases) {
  test(`${expression} after ${from}${timezone ? ` in ${timezone}` : ''} is ${next}`, () => {
    assert.equal(nextIso(expression, from, timezone), next);
  });
}

test('an hour that the clocks skip has no run that day', () => {
  assert.equal(nextIso('30 2 * * *', '2026-03-28T12:00:00Z', 'Europe/Berlin'), '2026-03-30T00:30:00.000Z');
});

test('an hour that comes twice has one run of a daily job', () => {
  assert.equal(nextIso('30 2 * * *', '2026-10-24T12:00:00Z', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z');
  assert.equal(nextIso('30 2 * * *', '2026-10-25T00:30:00Z', 'Europe/Berlin'), '2026-10-26T01:30:00.000Z');
});

test('a job of every ten minutes does not pause in an hour that comes twice', () => {
  assert.equal(nextIso('*/10 * * * *', '2026-10-25T00:50:00Z', 'Europe/Berlin'), '2026-10-25T01:00:00.000Z');
});

test('the next run is the first minute that node-cron itself calls a match', () => {
  const field = (min: number, max: number): fc.Arbitrary<string> => {
    const value = fc.integer({ min, max }).map(String);
    return fc.oneof(fc.constant('*'), fc.constantFrom('*/2', '*/7'), value, fc.tuple(value, value).map(String));
  };
  const expressions = fc.tuple(field(0, 59), field(0, 23), fc.constant('*'), fc.constant('*'), field(0, 6));
  const year = fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 0) });
  // Zones without clock changes: around those ours is meant to differ.
  const zone = fc.constantFrom('UTC', 'Asia/Kolkata', 'Asia/Tokyo');
  fc.assert(
    fc.property(expressions, year, zone, (fields, from, timezone) => {
      const expression = fields.join(' ');
      const task = createTask(expression, () => {}, { timezone });
      void task.destroy();
      let expected = (Math.floor(from / 60_000) + 1) * 60_000;
      const end = expected + 3 * 86_400_000;
      while (expected < end && !task.match(new Date(expected))) expected += 60_000;
      const next = calendarOf(expression, timezone).next(from) ?? 0;
      if (expected < end) assert.equal(next, expected);
      else assert.ok(next >= end);
    }),
    { numRuns: 50 },
  );
});

test('a date that never comes has no next run', () => {
  assert.equal(nextIso('0 0 L-30 2 *', '2026-03-01T00:00:00Z'), undefined);
});

test('an expression or a time zone that nobody can read is refused with its text', () => {
  for (const expression of ['every day', '61 * * * *', '* * *', 'x']) {
    assert.throws(
      () => calendarOf(expression),
      (error) => isError(error, 'InvalidConfiguration') && error.message.includes(expression),
    );
  }
  assert.throws(() => calendarOf('* * * * *', 'Mars/Olympus'), /Mars\/Olympus/);
});
