import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpinned } from './plan-object.ts';

test('the Plugin of an instance is planned as a declaration: without what the Sync writes into its source', () => {
  const git = { path: 'apps/web', template: true };
  const pinned = {
    kind: 'manifests' as const,
    source: { git: { ...git, tree: 'a'.repeat(40), commit: 'b'.repeat(40) } },
  };
  assert.deepEqual(unpinned(pinned), { kind: 'manifests', source: { git } });
  const chart = { kind: 'helm' as const, source: { oci: { url: 'oci://registry.example.com/web' } } };
  assert.deepEqual(unpinned(chart), chart);
});
