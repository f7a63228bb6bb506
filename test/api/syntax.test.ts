import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { validate as isCron } from 'node-cron';
import semver from 'semver';
import { CRON, RANGE } from '../../src/api/patterns.ts';

/** What our patterns take must work in the programs that read it later. */

const numbers = (max: number, min = 0) => fc.integer({ min, max }).map(String);
const SIXTY = numbers(59);
const FIELDS = [SIXTY, numbers(23), numbers(28, 1), numbers(12, 1), numbers(7)];

function field(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const step = fc.integer({ min: 1, max: 30 });
  const range = fc.tuple(value, value).map(([from, to]) => `${from}-${to}`);
  const stepped = fc.tuple(fc.oneof(fc.constant('*'), range), step).map(([of, by]) => `${of}/${by}`);
  return fc
    .array(fc.oneof(fc.constant('*'), value, range, stepped), { minLength: 1, maxLength: 3 })
    .map((all) => all.join(','));
}

test('a cron expression that we take is one that node-cron runs, and the other way round', () => {
  const expression = fc.tuple(...FIELDS.map(field)).map((fields) => fields.join(' '));
  const pattern = new RegExp(`^${CRON}$`);
  fc.assert(
    fc.property(expression, fc.option(field(SIXTY)), (fields, seconds) => {
      const text = seconds === null ? fields : `${seconds} ${fields}`;
      assert.equal(pattern.test(text), true, text);
      assert.equal(isCron(text), true, text);
    }),
  );
});

describe('a cron expression', () => {
  for (const text of ['@daily', '0 4 L * *', '0 4 * * 5L', '0 4 * * 1#2', '0 4 * JAN-MAR mon,fri', '*/30 * * * * *']) {
    test(`such as ${text} is one for us and for node-cron`, () => {
      assert.deepEqual([new RegExp(`^${CRON}$`).test(text), isCron(text)], [true, true]);
    });
  }

  for (const text of [
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5/10 * * * *',
    '*/0 * * * *',
    '* * * * * * *',
    'x',
    '@reboot',
    '* * * foo *',
  ]) {
    test(`such as ${text} is none for us, nor for node-cron`, () => {
      assert.deepEqual([new RegExp(`^${CRON}$`).test(text), isCron(text)], [false, false]);
    });
  }
});

describe('a range', () => {
  const GOOD = [
    '1.18.2',
    'v1.2',
    '~1.18',
    '^1',
    '1.x',
    '*',
    '>=1.29',
    '>=1.29 <1.32',
    '>= 1.2',
    '1.2 - 1.4',
    '<1 || >=3',
    '1.2.3-rc.1+b.5',
    '>=1.29.0-0',
  ];
  for (const text of GOOD) {
    test(`such as ${text} is one for us and for semver`, () => {
      assert.equal(new RegExp(`^${RANGE}$`).test(text), true);
      assert.notEqual(semver.validRange(text), null);
    });
  }

  for (const text of ['newest', 'latest', '>=', '1.2.3.4', '>=1.29 and <2', '1..2', '=>1.2', '']) {
    test(`such as ${JSON.stringify(text)} is none for us`, () => {
      assert.equal(new RegExp(`^${RANGE}$`).test(text), false);
    });
  }
});
