import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../api/index.ts';
import { type DriftInput, driftOf, driftValues } from './drift.ts';

const DECLARED: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'web', labels: { app: 'web' } },
  spec: { replicas: 2, template: { spec: { containers: [{ name: 'app', image: 'app:1' }] } } },
};

function fields(image: boolean, replicas: boolean, label: boolean, container = true): JsonObject {
  return {
    'f:metadata': { 'f:labels': label ? { 'f:app': {} } : {} },
    'f:spec': {
      ...(replicas ? { 'f:replicas': {} } : {}),
      'f:template': {
        'f:spec': {
          'f:containers': container
            ? { 'k:{"name":"app"}': { '.': {}, 'f:name': {}, ...(image ? { 'f:image': {} } : {}) } }
            : {},
        },
      },
    },
  };
}

const ours = (fieldsV1: JsonObject): ManagedFieldsEntry => ({
  manager: 'espalier',
  operation: 'Apply',
  apiVersion: 'apps/v1',
  fieldsV1,
});
const kubectl = (fieldsV1: JsonObject, time = '2026-11-01T00:00:00Z'): ManagedFieldsEntry => ({
  manager: 'kubectl-set',
  operation: 'Update',
  apiVersion: 'apps/v1',
  time,
  fieldsV1,
});
const scaled: ManagedFieldsEntry = {
  manager: 'kube-controller-manager',
  operation: 'Update',
  subresource: 'scale',
  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
};

const drift = (managedFields: ManagedFieldsEntry[] | undefined, over: Partial<DriftInput> = {}) =>
  driftOf({
    declared: DECLARED,
    recorded: { apiVersion: 'apps/v1', fields: fields(true, true, true) },
    managedFields,
    manager: 'espalier',
    ignore: [],
    ...over,
  });

const IMAGE = 'spec.template.spec.containers[name=app].image';

describe('drift', () => {
  it('is none while our entry has all recorded fields, whatever others add', () => {
    const others = kubectl({ 'f:metadata': { 'f:labels': { 'f:theirs': {} } } });
    assert.deepEqual(drift([ours(fields(true, true, true)), others]), { state: 'none' });
  });

  it('names the field that somebody changed, who holds it now and since when', () => {
    const image = { 'f:spec': { 'f:template': fields(true, false, false)['f:spec'] as JsonObject } };
    const taken = (image['f:spec']['f:template'] as JsonObject)['f:template'] as JsonObject;
    const found = drift([ours(fields(false, true, true)), kubectl({ 'f:spec': { 'f:template': taken } })]);
    assert.equal(found.state, 'drifted');
    assert.deepEqual(found.state === 'drifted' && [found.paths, found.by], [
      [IMAGE],
      [
        {
          manager: 'kubectl-set',
          operation: 'Update',
          time: '2026-11-01T00:00:00Z',
          paths: [IMAGE],
          isSure: true,
        },
      ],
    ]);
  });

  it('blames the last other writer for a field that is gone, and says that this is not sure', () => {
    const entries = [
      ours(fields(true, true, false)),
      kubectl({ 'f:data': {} }, '2026-11-02T00:00:00Z'),
      { ...kubectl({}, '2026-11-01T00:00:00Z'), manager: 'older' },
      { manager: 'status-writer', subresource: 'status', time: '2026-11-09T00:00:00Z' },
    ];
    const found = drift(entries);
    assert.ok(found.state === 'drifted');
    assert.deepEqual(found.paths, ['metadata.labels.app']);
    assert.deepEqual(
      found.by.map(({ manager, isSure }) => [manager, isSure]),
      [['kubectl-set', false]],
    );
  });

  it('knows nobody to blame when there is nobody', () => {
    const found = drift([ours(fields(true, false, true))]);
    assert.deepEqual(found.state === 'drifted' && found.by, [
      { manager: 'unknown', paths: ['spec.replicas'], isSure: false },
    ]);
  });

  it('counts a list item that is gone as one path', () => {
    const found = drift([ours(fields(true, true, true, false))]);
    assert.deepEqual(found.state === 'drifted' && found.paths, ['spec.template.spec.containers[name=app]']);
  });

  it('is everything when somebody cleared managedFields', () => {
    for (const managedFields of [undefined, []]) {
      const found = drift(managedFields);
      assert.deepEqual(found.state === 'drifted' && found.paths, [
        'metadata.labels.app',
        'spec.replicas',
        'spec.template.spec.containers[name=app]',
      ]);
    }
  });

  it('leaves out what is ignored', () => {
    const ignore = [{ target: { kind: 'Deployment' }, paths: ['/spec/replicas', '/metadata/labels/app'] }];
    assert.deepEqual(drift([ours(fields(true, false, false))], { ignore }), { state: 'none' });
    const elsewhere = [{ target: { name: 'other' }, paths: ['/spec/replicas'] }];
    assert.equal(drift([ours(fields(true, false, true))], { ignore: elsewhere }).state, 'drifted');
  });

  it('is none when an autoscaler took the replicas', () => {
    assert.deepEqual(drift([ours(fields(true, false, true)), scaled]), { state: 'none' });
    const byHand = { ...scaled, manager: 'kubectl' };
    assert.equal(drift([ours(fields(true, false, true)), byHand]).state, 'drifted');
  });

  it('can not be told across API versions', () => {
    const other = { ...ours({}), apiVersion: 'apps/v2' };
    assert.deepEqual(drift([other]), { state: 'incomparable', recorded: 'apps/v1', held: 'apps/v2' });
  });

  it('shows what was declared and what is there', () => {
    const live = structuredClone(DECLARED);
    live.spec = { replicas: 5, template: { spec: { containers: [{ name: 'x' }, { name: 'app', image: 'app:2' }] } } };
    const found = drift([ours({})]);
    assert.ok(found.state === 'drifted');
    assert.deepEqual(driftValues(DECLARED, live, found.fields).slice(1), [
      { path: 'spec.replicas', declared: 2, live: 5 },
      {
        path: 'spec.template.spec.containers[name=app]',
        declared: { name: 'app', image: 'app:1' },
        live: { name: 'app', image: 'app:2' },
      },
    ]);
  });
});
