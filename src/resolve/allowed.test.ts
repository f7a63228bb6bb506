import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayUse, namespaceFaults } from './allowed.ts';

test('a Sync without a list may use every namespace', () => {
  assert.equal(mayUse({ namespace: 'a' })('anything'), true);
});

test('a Sync with a list may use these and its own', () => {
  const may = mayUse({ namespace: 'tenant', allowedNamespaces: ['tenant-web'] });
  assert.deepEqual(['tenant', 'tenant-web', 'kube-system'].map(may), [true, true, false]);
});

test('a plugin that lives or installs elsewhere is named with the place of the fault', () => {
  const may = mayUse({ namespace: 'tenant', allowedNamespaces: [] });
  const faults = namespaceFaults(
    { metadata: { namespace: 'tenant' }, spec: { namespace: { name: 'kube-system' } } },
    may,
  );
  assert.deepEqual(faults, [
    {
      path: '/spec/namespace/name',
      message: 'the namespace "kube-system" is not among spec.allowedNamespaces of the Sync',
    },
  ]);
  assert.equal(namespaceFaults({ metadata: { namespace: 'x' }, spec: {} }, may).length, 1);
});
