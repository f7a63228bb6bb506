import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, validateObject } from '../../api/index.ts';
import { fromKubegems } from './kubegems.ts';
import { objectsOf } from './world.fixture.ts';

test('Plugins of KubeGems take their releases over; those that a bundle makes come from the bundle', () => {
  const { plugins, left } = fromKubegems(
    objectsOf<KubeObject>(`
apiVersion: plugins.kubegems.io/v1beta1
kind: Plugin
metadata: {name: monitoring, namespace: kubegems, uid: "1", finalizers: [plugins.kubegems.io/finalizer]}
spec: {kind: helm, url: https://charts.example.com, version: 1.2.3, installNamespace: monitoring, values: {a: 1}}
status: {phase: Installed}
---
apiVersion: plugins.kubegems.io/v1beta1
kind: Plugin
metadata: {name: nested, namespace: kubegems, ownerReferences: [{kind: Plugin, name: bundle}]}
spec: {url: https://charts.example.com}
---
apiVersion: plugins.kubegems.io/v1beta1
kind: Plugin
metadata: {name: wrong, namespace: kubegems}
spec: {kind: rpm, url: https://charts.example.com}
`),
  );
  assert.equal(plugins.length, 1);
  assert.deepEqual(validateObject(plugins[0]), []);
  assert.deepEqual(plugins[0]?.metadata, { name: 'monitoring', namespace: 'kubegems' });
  assert.deepEqual(plugins[0]?.spec, {
    kind: 'helm',
    source: { chart: { repository: 'https://charts.example.com', name: 'monitoring', version: '1.2.3' } },
    namespace: { name: 'monitoring', create: true },
    values: { a: 1 },
    apply: { adopt: true },
  });
  assert.deepEqual(
    left.map(({ object, field }) => `${object} ${field}`.trim()),
    ['Plugin kubegems/monitoring metadata.finalizers', 'Plugin kubegems/nested', 'Plugin kubegems/wrong spec.kind'],
  );
});
