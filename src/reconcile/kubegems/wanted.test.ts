import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, readAs } from '../../api/index.ts';
import { isOfKubegems, saysAll, wantedPlugin } from './wanted.ts';

const SYNC = readAs(
  {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Sync',
    metadata: { name: 'sync', namespace: 'ops' },
    spec: { repository: { url: 'https://git.example.com/a.git' } },
  },
  'Sync',
);
const TRANSLATED: KubeObject = {
  apiVersion: 'espalier.dev/v1alpha1',
  kind: 'Plugin',
  metadata: {
    name: 'web',
    namespace: 'gems',
    labels: { 'espalier.dev/sync': 'theirs', 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: { 'espalier.dev/facts-of': 'kube-system/mine' },
  },
  spec: {
    kind: 'helm',
    source: { chart: { repository: 'https://charts.example.com', name: 'web' } },
    valuesFrom: [{ kind: 'Secret', name: 's' }],
    values: { a: 1 },
  },
};

test('a KubeGems object has no say in whose Plugin it is and whose rights it has', () => {
  const { labels, annotations } = wantedPlugin(TRANSLATED, SYNC).metadata;
  assert.deepEqual(labels, { 'espalier.dev/compat': 'kubegems' });
  assert.equal(annotations?.['espalier.dev/facts-of'], 'ops/sync');
});

test('only a Plugin that no Sync wrote is one of KubeGems', () => {
  const wanted = readAs(wantedPlugin(TRANSLATED, SYNC), 'Plugin');
  const labels = { ...wanted.metadata.labels, 'espalier.dev/sync': 'sync' };
  assert.equal(isOfKubegems(wanted), true);
  assert.equal(isOfKubegems({ ...wanted, metadata: { ...wanted.metadata, labels } }), false);
});

test('what others added is theirs; what they changed is not', () => {
  const wanted = wantedPlugin(TRANSLATED, SYNC);
  const live = readAs(wanted, 'Plugin');
  assert.equal(saysAll(live, wanted), true);
  assert.equal(saysAll({ ...live, spec: { ...live.spec, suspend: true, timeout: '9m' } }, wanted), true);
  assert.equal(saysAll({ ...live, spec: { ...live.spec, values: { a: 1, b: 2 } } }, wanted), false);
  assert.equal(saysAll({ ...live, metadata: { ...live.metadata, annotations: {} } }, wanted), false);
});
