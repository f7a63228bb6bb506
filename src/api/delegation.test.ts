import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Delegation, delegationName, delegationRecord, readDelegation, reportedOn } from './delegation.ts';
import type { KubeObject } from './objects.ts';

const SAFE = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

describe('the name of a record', () => {
  test('is that of the expansion and its version', () =>
    assert.equal(delegationName('demo', 'v1.0'), 'demo-delegated-v1.0'));

  test('is one that Kubernetes takes, and another one for each version, whatever stands in it', () => {
    const versions = ['v1.0', 'V1.0', 'v1.0+a', 'v1.0-a', 'v1.0_a', 'v1.', 'v1..0', 'v1.-0', 'é', '+', 'v'.repeat(300)];
    const names = versions.map((version) => delegationName('demo', version));
    assert.equal(new Set(names).size, versions.length);
    for (const name of names) assert.match(name, SAFE);
    for (const name of names) assert.ok(name.length <= 253, name);
  });
});

describe('a record', () => {
  const record = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'demo-delegated-v1' };
  const plain: Delegation = { expansion: 'demo', record, conditions: ['EnsureKubelet', 'EnsureX'] };

  for (const [title, delegation] of [
    ['whose own data tells', plain],
    ['of a custom object', { ...plain, on: { apiVersion: 'a.b/v1', kind: 'Cluster', namespace: 'x', name: 'global' } }],
    ['of a custom object without a namespace', { ...plain, on: { apiVersion: 'a.b/v1', kind: 'Cluster', name: 'g' } }],
  ] as const)
    test(`${title} reads as it was written`, () =>
      assert.deepEqual(readDelegation(delegationRecord(delegation)), delegation));

  test('is no ConfigMap without the label and the annotation', () => {
    const { metadata } = delegationRecord(plain);
    const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    assert.equal(readDelegation(bare), undefined);
    assert.equal(readDelegation({ ...bare, metadata: { ...metadata, annotations: {} } }), undefined);
  });
});

describe('a condition', () => {
  const configMap = (text: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x' },
    data: { Ensure: text },
  });

  for (const [text, expected] of [
    ['True', { status: 'True' }],
    ['true\n', { status: 'True' }],
    ['False', { status: 'False' }],
    ['yes', { status: 'Unknown' }],
    ['{"status":"False","reason":"R","message":"m"}', { status: 'False', reason: 'R', message: 'm' }],
    ['{"status":1,"reason":2}', { status: 'Unknown' }],
    ['{"status":', { status: 'Unknown', message: 'what stands there is neither True nor False nor JSON' }],
  ] as const)
    test(`that a ConfigMap says as ${JSON.stringify(text)}`, () =>
      assert.deepEqual(reportedOn(configMap(text), 'Ensure'), expected));

  test('of another object stands in its status, whatever else stands there', () => {
    const object = { apiVersion: 'a.b/v1', kind: 'Cluster', metadata: { name: 'x' } };
    const conditions = [null, 'x', { type: 'Other', status: 'True' }, { type: 'Ensure', status: 'True', message: 'm' }];
    assert.deepEqual(reportedOn({ ...object, status: { conditions } }, 'Ensure'), { status: 'True', message: 'm' });
    assert.equal(reportedOn({ ...object, status: { conditions: 'none' } }, 'Ensure'), undefined);
    assert.equal(reportedOn(object, 'Ensure'), undefined);
    assert.equal(reportedOn(configMap('True'), 'Other'), undefined);
  });
});
