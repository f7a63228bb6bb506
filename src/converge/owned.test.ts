import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION, type KubeObject, LABEL, refKey, refOf } from '../api/index.ts';
import { healthOf } from '../cluster/health.ts';
import { OwnedIndex } from './owned.ts';

function job(
  uid: string,
  version: string,
  complete: boolean,
  metadata: Partial<KubeObject['metadata']> = {},
): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: 'web',
      name: 'migrate',
      uid,
      resourceVersion: version,
      labels: { [LABEL.plugin]: 'demo', [LABEL.pluginNamespace]: 'sys' },
      annotations: { [ANNOTATION.once]: 'v1' },
      ...metadata,
    },
    spec: {},
    status: { conditions: complete ? [{ type: 'Complete', status: 'True' }] : [] },
  };
}

const KEY = refKey(refOf(job('a', '1', false)));

function index(): OwnedIndex {
  return new OwnedIndex({ healthOf: (_, object) => healthOf(object), rulesFor: () => '', onChange: () => {} });
}

test('what ran and removed itself in the same instant is remembered as having run', () => {
  const owned = index();
  owned.onEvent('added', job('a', '1', false));
  assert.equal(owned.ran(KEY), undefined);
  owned.onEvent('modified', job('a', '2', true, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  owned.onEvent('deleted', job('a', '3', true, { deletionTimestamp: '2026-01-01T00:00:00Z' }));
  assert.equal(owned.get(KEY), undefined);
  assert.deepEqual(owned.ran(KEY), { uid: 'a', once: 'v1' });

  const atItsEnd = index();
  atItsEnd.onEvent('added', job('b', '1', false));
  atItsEnd.onEvent('deleted', job('b', '2', true));
  assert.deepEqual(atItsEnd.ran(KEY), { uid: 'b', once: 'v1' });
});

test('what went before it had run has not run, nor has what a list only missed', () => {
  const owned = index();
  owned.onEvent('added', job('a', '1', false));
  owned.onEvent('deleted', job('a', '2', false));
  const { status: _, spec: __, ...named } = job('b', '4', true);
  owned.onEvent('added', job('b', '3', false));
  owned.onEvent('deleted', named);
  assert.equal(owned.ran(KEY), undefined);
});

test('what a Plugin has let go is forgotten, unless another one has it by now', () => {
  const owned = index();
  owned.onEvent('added', job('a', '1', true));
  owned.forget(KEY, 'sys/other');
  assert.deepEqual(owned.ran(KEY), { uid: 'a', once: 'v1' });
  owned.forget(KEY, 'sys/demo');
  assert.equal(owned.ran(KEY), undefined);
});
