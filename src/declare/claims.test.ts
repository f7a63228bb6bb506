import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimedFolders, isClaimed } from './claims.ts';
import { partsOf, plugin } from './parts.fixture.ts';

const at = (file: string, path: string) =>
  partsOf(file, plugin('a', `{kind: manifests, source: {git: {path: ${path}}}}`));

test('a folder that a declaration names belongs to it, with all below', () => {
  const claims = claimedFolders(at('plugins/a.yaml', './apps/web/'));
  assert.ok(
    isClaimed('apps/web/x.yaml', claims) && isClaimed('apps/web/deep/x.yaml', claims) && isClaimed('apps/web', claims),
  );
  assert.ok(!isClaimed('apps/webx/x.yaml', claims) && !isClaimed('apps', claims));
});

test('a declaration inside the folder that it names claims nothing', () => {
  assert.equal(claimedFolders([...at('all/a.yaml', '.'), ...at('all/b.yaml', 'all')]).size, 0);
});

test('of two that name each other, the first by path wins', () => {
  assert.deepEqual([...claimedFolders([...at('b/b.yaml', 'a'), ...at('a/a.yaml', 'b')])], ['b']);
});

test('a folder of another repository is not ours to claim', () => {
  const other = partsOf('a.yaml', plugin('a', '{source: {git: {url: https://x.example/y.git, path: apps}}}'));
  assert.equal(claimedFolders(other).size, 0);
});
