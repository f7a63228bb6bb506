import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentKey } from './key.ts';

test('the order of parts does not count', () => {
  assert.equal(contentKey({ a: 1, b: 2 }), contentKey({ b: 2, a: 1 }));
});

test('parts that say different things have different keys', () => {
  assert.notEqual(contentKey({ values: { a: '1' } }), contentKey({ values: { a: 1 } }));
  assert.notEqual(contentKey({ chart: 'a', digest: 'b' }), contentKey({ chart: 'ab', digest: '' }));
  assert.match(contentKey({}), /^[0-9a-f]{64}$/);
});
