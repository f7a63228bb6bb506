import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../api/index.ts';
import { driftByValue, stillDiffering } from './drift.ts';
import { parseElement, serverPath } from './field-path.ts';
import type { IgnoreRule } from './ignore.ts';

const DECLARED: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'web', labels: { app: 'web', tier: 'front' } },
  spec: { replicas: 2, template: { spec: { containers: [{ name: 'app', image: 'app:1' }] } } },
};

function live(over: { labels?: Record<string, string>; replicas?: number; held: JsonObject }): KubeObject {
  const { labels = { app: 'web', tier: 'front' }, replicas = 2, held } = over;
  const managedFields: ManagedFieldsEntry[] = [
    { manager: 'espalier', operation: 'Apply', apiVersion: 'apps/v1', fieldsV1: held },
    {
      manager: 'kubectl-scale',
      operation: 'Update',
      apiVersion: 'apps/v1',
      time: '2026-11-18T09:00:00Z',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    },
  ];
  const template = { spec: { containers: [{ name: 'app', image: 'app:1', imagePullPolicy: 'IfNotPresent' }] } };
  return { ...DECLARED, metadata: { ...DECLARED.metadata, labels, managedFields }, spec: { replicas, template } };
}

const WITHOUT_REPLICAS: JsonObject = { 'f:metadata': { 'f:labels': { 'f:app': {}, 'f:tier': {} } } };
const byValue = (object: KubeObject, ignore: IgnoreRule[] = []) =>
  driftByValue({ declared: DECLARED, live: object, manager: 'espalier', ignore });

describe('drift by value', () => {
  it('is what differs and is no longer in our name, with who holds it', () => {
    const { paths, by } = byValue(live({ replicas: 5, held: WITHOUT_REPLICAS }));
    assert.deepEqual(paths, ['spec.replicas']);
    assert.deepEqual(
      by.map(({ manager, isSure }) => [manager, isSure]),
      [['kubectl-scale', true]],
    );
  });

  it('names who wrote last, and says that it is not sure, where a field is gone', () => {
    const held: JsonObject = { 'f:metadata': { 'f:labels': { 'f:app': {} } }, 'f:spec': { 'f:replicas': {} } };
    const { paths, by } = byValue(live({ labels: { app: 'web' }, held }));
    assert.deepEqual(paths, ['metadata.labels.tier']);
    assert.deepEqual(
      by.map(({ manager, isSure }) => [manager, isSure]),
      [['kubectl-scale', false]],
    );
  });

  it('is nothing where the value is as declared, whoever holds it', () =>
    assert.deepEqual(byValue(live({ held: WITHOUT_REPLICAS })), { paths: [], by: [] }));

  it('is nothing where the field is still ours: the server may write a value in its own way', () => {
    const held: JsonObject = { ...WITHOUT_REPLICAS, 'f:spec': { 'f:replicas': {} } };
    assert.deepEqual(byValue(live({ replicas: 5, held })).paths, []);
  });

  it('leaves out what is ignored', () => {
    const ignore = [{ paths: ['/spec/replicas'] }];
    assert.deepEqual(byValue(live({ replicas: 5, held: WITHOUT_REPLICAS }), ignore).paths, []);
  });

  it('compares Secrets as the server stores them', () => {
    const secret = (data: JsonObject): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
      ...data,
    });
    const declared = secret({ stringData: { password: 'x' } });
    assert.deepEqual(stillDiffering(['data.password'], declared, secret({ data: { password: 'eA==' } })), []);
    assert.deepEqual(stillDiffering(['data.password'], declared, secret({ data: { password: 'eQ==' } })), [
      'data.password',
    ]);
  });
});

describe('drifted paths', () => {
  const container = 'spec.template.spec.containers[name=app]';
  it('still differ while the live value is another one', () =>
    assert.deepEqual(stillDiffering(['spec.replicas'], DECLARED, live({ replicas: 5, held: {} })), ['spec.replicas']));
  it('differ no more when somebody put the value back', () =>
    assert.deepEqual(stillDiffering(['spec.replicas', container], DECLARED, live({ held: {} })), []));
  it('differ as a whole when something in them does', () => {
    const changed = live({ held: {} });
    const declared = structuredClone(DECLARED);
    (declared.spec as { template: { spec: { containers: { image: string }[] } } }).template.spec.containers = [
      { name: 'app', image: 'app:2' } as { image: string },
    ];
    assert.deepEqual(stillDiffering([container], declared, changed), [container]);
  });
});

describe('serverPath', () => {
  it('writes paths as the API server does in a conflict', () => {
    const path = ['f:spec', 'f:ports', 'k:{"protocol":"TCP","containerPort":80}', 'f:name'].map(parseElement);
    assert.equal(serverPath(path), '.spec.ports[containerPort=80,protocol="TCP"].name');
    const finalizer = ['f:metadata', 'f:finalizers', 'v:"example.com/x"'].map(parseElement);
    assert.equal(serverPath(finalizer), '.metadata.finalizers[="example.com/x"]');
    assert.equal(serverPath(['f:spec', 'i:0'].map(parseElement)), '.spec[0]');
  });
});
