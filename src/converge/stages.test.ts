import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removalWave, removalWaves } from './stages.ts';

const KINDS: [apiVersion: string, kind: string, wave: string][] = [
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'webhooks'],
  ['example.com/v1', 'Widget', 'custom'],
  ['apiregistration.k8s.io/v1', 'APIService', 'apis'],
  ['apps/v1', 'Deployment', 'objects'],
  ['v1', 'ConfigMap', 'objects'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'objects'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'definitions'],
  ['v1', 'Namespace', 'namespaces'],
];

test('each kind goes in the wave in which nobody needs it any more', () => {
  for (const [apiVersion, kind, wave] of KINDS) assert.equal(removalWave({ apiVersion, kind }), wave, kind);
});

test('removal goes from what would refuse the rest to what holds the rest, and skips empty waves', () => {
  const refs = KINDS.map(([apiVersion, kind]) => ({ apiVersion, kind }));
  const waves = removalWaves(refs.toReversed()).map((wave) => wave.map(({ kind }) => kind).toSorted());
  assert.deepEqual(waves, [
    ['ValidatingWebhookConfiguration'],
    ['Widget'],
    ['APIService'],
    ['ClusterRole', 'ConfigMap', 'Deployment'],
    ['CustomResourceDefinition'],
    ['Namespace'],
  ]);
  assert.deepEqual(removalWaves(refs.slice(7)), [[refs[7]]]);
});
