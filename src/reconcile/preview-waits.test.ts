import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type Plugin } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { waitsInPreview } from './preview-waits.ts';
import type { RevisionPlugin } from './render-revision.ts';

const NODES = { apiVersion: 'v1', kind: 'Node', all: true };
const WIDGETS = { apiVersion: 'a.b/v1', kind: 'Widget', all: true };

function waits(spec: Record<string, unknown>, client: Partial<KubeClient>): Promise<string[]> {
  const plugin = { metadata: { name: 'p', namespace: 'n' }, spec } as unknown as Plugin;
  return waitsInPreview(client as KubeClient, { plugin } as RevisionPlugin, new Map(), new Map());
}

test('a preview tells what will be waited for among all objects of a kind, and that a kind is not served', async () => {
  const client: Partial<KubeClient> = {
    async pages({ kind }, onPage) {
      if (kind === 'Widget') throw new EspalierError('KubeKindUnknown', 'no such kind');
      // A list that begins anew: what was seen before proves nothing.
      onPage([{ ...NODES, metadata: { name: 'gone' } }], { restarted: false });
      onPage([{ ...NODES, metadata: { name: 'n1' } }], { restarted: true });
      return { resourceVersion: '1' };
    },
  };
  assert.deepEqual(await waits({ dependsOn: [NODES, WIDGETS] }, client), [
    'all Nodes: n1: not ready',
    'all Widgets: there is none',
  ]);
});

test('a preview tells of a gate how long it may take, not until when', async () => {
  const gate = { apiVersion: 'v1', kind: 'ConfigMap', name: 'r', condition: 'A', by: 'somebody', timeout: '30m' };
  assert.deepEqual(await waits({ gates: [gate] }, { get: async () => undefined }), [
    'somebody to set A on ConfigMap r (within 30m)',
  ]);
});
