import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobCache } from './blob-cache.ts';

test('what was used longest ago is forgotten first', () => {
  const cache = new BlobCache<string>(30);
  for (const oid of ['a', 'b', 'c']) cache.set(oid, oid, 10);
  cache.get('a');
  cache.set('d', 'd', 10);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((oid) => cache.get(oid)),
    ['a', undefined, 'c', 'd'],
  );
});

test('setting one thing again does not count it twice', () => {
  const cache = new BlobCache<string>(30);
  for (let times = 0; times < 10; times += 1) cache.set('a', 'a', 10);
  cache.set('b', 'b', 20);
  assert.equal(cache.get('a'), 'a');
});

test('what alone is larger than the cache is kept until the next comes', () => {
  const cache = new BlobCache<string>(5);
  cache.set('a', 'a', 10);
  assert.equal(cache.get('a'), 'a');
  cache.set('b', 'b', 1);
  assert.equal(cache.get('a'), undefined);
});
