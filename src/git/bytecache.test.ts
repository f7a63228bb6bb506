import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteCache } from './bytecache.ts';

test('keeps what was used last, within its bytes', () => {
  const cache = new ByteCache<string, number>(100);
  for (const key of ['a', 'b', 'c', 'd']) cache.set(key, 1, 25);
  assert.equal(cache.get('a'), 1);
  cache.set('e', 1, 25);
  assert.equal(cache.get('b'), undefined);
  assert.equal(cache.get('a'), 1);
  cache.set('a', 2, 10);
  assert.equal(cache.bytes, 85);
  cache.set('huge', 1, 26);
  assert.equal(cache.get('huge'), undefined);
  cache.clear();
  assert.equal(cache.bytes, 0);
});
