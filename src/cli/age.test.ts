import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageOf } from './age.ts';

const NOW = Date.parse('2026-11-18T09:00:00Z');
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

for (const [seconds, text] of [
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [5 * MINUTE + 12, '5m12s'],
  [59 * MINUTE, '59m'],
  [3 * HOUR + 4 * MINUTE, '3h4m'],
  [47 * HOUR, '47h'],
  [3 * DAY + 4 * HOUR + 59 * MINUTE, '3d4h'],
  [400 * DAY, '400d'],
  [3 * 365 * DAY, '3y'],
  [3 * 365 * DAY + 2 * DAY, '3y2d'],
  [9 * 365 * DAY, '9y'],
] satisfies [number, string][]) {
  test(`writes ${seconds} seconds as kubectl does: ${text}`, () => {
    assert.equal(ageOf(new Date(NOW - seconds * 1000).toISOString(), NOW), text);
  });
}

test('an instant in the future, by a clock that is ahead, is now; none at all is unknown', () => {
  assert.equal(ageOf('2026-11-18T09:00:05Z', NOW), '0s');
  assert.equal(ageOf(undefined, NOW), '<unknown>');
});
