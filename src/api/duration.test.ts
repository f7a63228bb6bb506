import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatDuration, isDuration, parseDuration } from './duration.ts';
import { isError } from './errors.ts';

describe('reads', () => {
  for (const [text, milliseconds] of [
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['1m1ms', 60_001],
    ['0s', 0],
    ['0.1ms', 1],
  ] as const) {
    test(`${text} as ${milliseconds} ms`, () => assert.equal(parseDuration(text), milliseconds));
  }
});

describe('refuses', () => {
  for (const text of ['', 'x', '5', '-5m', '5 m', '5M', '1d', '1h30', '.5h', '1e3s', `1${'0'.repeat(40)}s`, '5m\n']) {
    test(JSON.stringify(text), () => {
      assert.equal(isDuration(text), false);
      assert.throws(
        () => parseDuration(text),
        (error) => isError(error, 'InvalidDeclaration'),
      );
    });
  }
});

test('what is written is read back as the same', () => {
  fc.assert(
    fc.property(fc.nat({ max: 10 ** 10 }), (milliseconds) => {
      assert.equal(parseDuration(formatDuration(milliseconds)), milliseconds);
    }),
  );
});

test('writes as people do', () => {
  assert.deepEqual([0, 250, 1500, 90_000, 5_400_000].map(formatDuration), ['0s', '250ms', '1s500ms', '1m30s', '1h30m']);
});
