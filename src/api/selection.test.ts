import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeSelection, labelSelector } from './selection.ts';

describe('a selection of objects', () => {
  for (const [kind, text] of [
    ['Node', 'all Nodes'],
    ['StorageClass', 'all StorageClasses'],
    ['NetworkPolicy', 'all NetworkPolicies'],
    ['Gateway', 'all Gateways'],
    ['Endpoints', 'all Endpoints'],
  ] as const)
    test(`of every ${kind} reads "${text}"`, () => assert.equal(describeSelection({ kind }), text));

  test('of some namespace and labels names both, the labels in one order', () => {
    const labels = { tier: 'b', app: 'a' };
    assert.equal(describeSelection({ kind: 'Pod', namespace: 'web', labels }), 'all Pods of web with app=a,tier=b');
    assert.equal(labelSelector({}), '');
  });
});
