import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheFor } from './cache.ts';

test('the cache is where the user says, else where caches are kept', () => {
  assert.equal(cacheFor({ ESPALIER_CACHE_DIR: '/own', XDG_CACHE_HOME: '/xdg', HOME: '/home/u' }).root, '/own');
  assert.equal(cacheFor({ XDG_CACHE_HOME: '/xdg', HOME: '/home/u' }).bin, '/xdg/espalier/bin');
  assert.equal(cacheFor({ HOME: '/home/u' }).goBuild, '/home/u/.cache/espalier/go/build');
});

test('a relative XDG_CACHE_HOME is ignored, as its specification asks', () => {
  assert.equal(cacheFor({ XDG_CACHE_HOME: 'caches', HOME: '/home/u' }).root, '/home/u/.cache/espalier');
});
