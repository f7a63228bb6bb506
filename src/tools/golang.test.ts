import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheAt } from './cache.ts';
import { goEnvironment, isAtLeast } from './golang.ts';

const SURROUNDINGS = {
  cache: cacheAt('/cache'),
  modules: '/modules',
  platform: { os: 'linux', arch: 'amd64' },
  goFolders: [],
};

test('versions of Go are compared by number', () => {
  assert.equal(isAtLeast('1.26.8', '1.26.3'), true);
  assert.equal(isAtLeast('1.9.9', '1.26.0'), false);
  assert.equal(isAtLeast('1.26', '1.26.0'), true);
  assert.equal(isAtLeast('2.0.0', '1.26.3'), true);
});

test('Go gets the proxies and credentials of the user, and nothing that changes what is built', () => {
  const env = {
    GOPROXY: 'https://p.test',
    HTTPS_PROXY: 'http://x',
    GOOS: 'windows',
    GOFLAGS: '-race',
    GIT_DIR: '/r',
    LD_PRELOAD: 'x',
  };
  const go = goEnvironment({ toolchain: 'local' }, { module: 'm', package: 'p' }, { ...SURROUNDINGS, env }, '/tmp/t');
  assert.deepEqual(go, {
    GOPROXY: 'https://p.test',
    HTTPS_PROXY: 'http://x',
    GOFLAGS: '-modcacherw',
    GO111MODULE: 'on',
    GOWORK: 'off',
    GOTOOLCHAIN: 'local',
    GOMODCACHE: '/cache/go/mod',
    GOCACHE: '/cache/go/build',
    GOTMPDIR: '/tmp/t',
    CGO_ENABLED: '0',
  });
});
