import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError, messageOf } from '../api/index.ts';
import { parseValues } from './values-text.ts';

test('a document of values is read, and nothing is no values', () => {
  assert.deepEqual(parseValues('a: {b: yes}\n'), { a: { b: true } });
  assert.deepEqual(parseValues('# empty\n'), {});
});

for (const text of [
  '- canary',
  'canary',
  'a: [canary',
  'a: 1\n---\nb: canary',
  'a: canary\na: canary',
  '__proto__: canary',
]) {
  test(`${JSON.stringify(text)} is refused without a word of it`, () => {
    assert.throws(
      () => parseValues(text),
      (error) => isError(error, 'InvalidConfiguration') && !messageOf(error).includes('canary'),
    );
  });
}
