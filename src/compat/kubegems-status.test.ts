import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Plugin, type PluginStatus, readAs } from '../api/index.ts';
import { failedStatus, kubegemsStatus } from './kubegems-status.ts';

function plugin(status: PluginStatus, spec: object = {}, metadata: object = {}): Plugin {
  const source = { chart: { repository: 'https://charts.example.com', name: 'web' } };
  const object = {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'web', namespace: 'gems', generation: 2, ...metadata },
    spec: { kind: 'helm', source, ...spec },
    status: { observedGeneration: 2, ...status },
  };
  return readAs(object, 'Plugin');
}

describe('phase', () => {
  const table: [what: string, plugin: Plugin, phase: string][] = [
    ['nothing was looked at yet', plugin({}), 'Pending'],
    ['applied and healthy', plugin({ phase: 'Ready', revision: { key: 'k' } }), 'Installed'],
    [
      'healthy as it was before an edit',
      plugin({ phase: 'Ready', revision: { key: 'k' }, observedGeneration: 1 }),
      'Progressing',
    ],
    ['failed', plugin({ phase: 'Failed', revision: { key: 'k' } }), 'Failed'],
    ['waiting', plugin({ phase: 'Waiting' }), 'Waiting'],
    ['held', plugin({ phase: 'Held', revision: { key: 'k' } }), 'Held'],
    ['switched off and gone', plugin({ phase: 'Ready', revision: {} }, { enabled: false }), 'Disabled'],
    ['not for this cluster', plugin({ phase: 'Ready', revision: {} }), 'Disabled'],
    [
      'on its way out',
      plugin({ phase: 'Ready', revision: { key: 'k' } }, {}, { deletionTimestamp: 'now' }),
      'Removing',
    ],
  ];
  for (const [what, given, phase] of table) {
    test(`${phase}: ${what}`, () => assert.equal(kubegemsStatus(given, undefined, 7).phase, phase));
  }
});

test('says version, namespace, times and resources as KubeGems does', () => {
  const given = plugin(
    {
      phase: 'Ready',
      message: 'all 2 objects are healthy',
      revision: { key: 'k', chart: 'web', version: '1.2.3', app: 'v9' },
      history: [
        { outcome: 'Ready', at: '2026-03-03T00:00:00Z' },
        { outcome: 'Failed', at: '2026-02-02T00:00:00Z' },
        { outcome: 'Ready', at: '2026-01-01T00:00:00Z' },
      ],
      inventory: [
        { apiVersion: 'v1', kind: 'Namespace', name: 'web', uid: 'u1', applied: 'a', fields: 'f' },
        { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'web', name: 'front' },
      ],
    },
    { namespace: { name: 'web', create: true } },
  );
  const status = {
    phase: 'Installed',
    message: 'all 2 objects are healthy',
    observedGeneration: 7,
    namespace: 'web',
    installNamespace: 'web',
    version: '1.2.3',
    appVersion: 'v9',
    creationTimestamp: '2026-01-01T00:00:00Z',
    upgradeTimestamp: '2026-03-03T00:00:00Z',
    resources: [
      { apiVersion: 'v1', kind: 'Namespace', name: 'web', uid: 'u1' },
      { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'web', name: 'front' },
    ],
  };
  assert.deepEqual(kubegemsStatus(given, undefined, 7), status);
  const before = { creationTimestamp: '2025-01-01T00:00:00Z' };
  assert.equal(kubegemsStatus(given, before, 7).creationTimestamp, '2025-01-01T00:00:00Z');
  assert.deepEqual(failedStatus('spec.url is missing', status, 8), {
    ...status,
    phase: 'Failed',
    message: 'spec.url is missing',
    observedGeneration: 8,
  });
});

test('what was not looked at yet is not said to be', () => {
  const given = plugin({ phase: 'Ready', revision: { key: 'k' }, observedGeneration: 1 });
  assert.equal(kubegemsStatus(given, { observedGeneration: 3 }, 4).observedGeneration, 3);
});
