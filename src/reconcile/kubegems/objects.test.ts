import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeClient } from '../../cluster/client.ts';
import { KubegemsObjects } from './objects.ts';

const META = { name: 'web', namespace: 'gems', uid: 'u' };

function objects(): KubegemsObjects {
  const signal = new AbortController().signal;
  const client = {} as KubeClient; // nothing is followed here
  return new KubegemsObjects({
    client,
    signal,
    onlyNamespace: undefined,
    wake: () => undefined,
    onTrouble: () => undefined,
  });
}

function object(resourceVersion: string, status: object) {
  return { apiVersion: 'plugins.kubegems.io/v1beta1', kind: 'Plugin', metadata: { ...META, resourceVersion }, status };
}

test('a status whose fields a foreign definition drops is written once', () => {
  const known = objects();
  const said = { phase: 'Installed', observedGeneration: 1 };
  const kept = object('5', { phase: 'Installed' });
  assert.equal(known.hasTold(kept, said), false);
  known.told(kept, said);
  assert.equal(known.hasTold(kept, said), true);
  assert.equal(known.hasTold(kept, { ...said, phase: 'Failed' }), false);
  assert.equal(known.hasTold(object('6', { phase: 'by hand' }), said), false);
});

test('what the watch brings late does not replace the answer to a write', () => {
  const known = objects();
  known.put(object('5', { phase: 'Installed' }));
  known.put(object('4', { phase: 'Pending' }));
  assert.deepEqual(known.get('gems/web')?.status, { phase: 'Installed' });
  known.put({ ...object('2', {}), metadata: { ...META, uid: 'another', resourceVersion: '2' } });
  assert.equal(known.get('gems/web')?.metadata.uid, 'another');
});
