import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json, KubeObject, Patch } from '../api/index.ts';
import { imagesIn } from '../images/find.ts';
import { type FinishOptions, finishObjects } from './finish.ts';
import { mergePatch } from './merge-patch.ts';

const CLUSTER_KINDS = new Set(['Namespace', 'ClusterRole']);
const options = (over: Partial<FinishOptions> = {}): FinishOptions => ({
  plugin: { metadata: { name: 'web', namespace: 'sys' } },
  targetNamespace: 'apps',
  createNamespace: false,
  patches: [],
  images: { rewrite: [], fields: [] },
  scopeOf: ({ kind }) => (kind === 'Widget' ? 'unknown' : CLUSTER_KINDS.has(kind) ? 'Cluster' : 'Namespaced'),
  ...over,
});
const make = (kind: string, name: string, rest: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  ...rest,
  metadata: { name, ...rest.metadata },
});
const LABELS = { 'espalier.dev/plugin': 'web', 'espalier.dev/plugin-namespace': 'sys' };

function one(object: KubeObject, over: Partial<FinishOptions> = {}): KubeObject {
  const { objects } = finishObjects([object], options(over));
  assert.equal(objects.length, 1);
  return objects[0] as KubeObject;
}

describe('a finished object', () => {
  it('carries the labels of its plugin, whatever it says itself', () => {
    const labels = { app: 'x', 'espalier.dev/plugin': 'somebody-else' };
    assert.deepEqual(one(make('ConfigMap', 'c', { metadata: { name: 'c', labels } })).metadata.labels, {
      app: 'x',
      ...LABELS,
    });
  });

  it('goes to the namespace of its plugin when it names none', () => {
    assert.equal(one(make('ConfigMap', 'c')).metadata.namespace, 'apps');
    assert.equal(one(make('ConfigMap', 'c', { metadata: { name: 'c', namespace: 'own' } })).metadata.namespace, 'own');
    assert.equal(one(make('ConfigMap', 'c', { metadata: { name: 'c', namespace: '' } })).metadata.namespace, 'apps');
  });

  it('has no namespace when its kind has none', () => {
    assert.equal(
      'namespace' in one(make('ClusterRole', 'r', { metadata: { name: 'r', namespace: 'apps' } })).metadata,
      false,
    );
  });

  it('is left as it is, and named, when nobody serves its kind yet', () => {
    const { objects, undecided } = finishObjects([make('Widget', 'w')], options());
    assert.equal(objects[0]?.metadata.namespace, undefined);
    assert.deepEqual(
      undecided.map((object) => object.kind),
      ['Widget'],
    );
  });

  it('has nothing that the API server keeps for itself', () => {
    const metadata = {
      name: 'c',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: 't',
      generation: 2,
      managedFields: [],
      annotations: { a: 'b' },
    };
    assert.deepEqual(one(make('ConfigMap', 'c', { metadata, status: {}, data: {} })), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: {},
      metadata: { name: 'c', namespace: 'apps', annotations: { a: 'b' }, labels: LABELS },
    });
  });

  it('leaves what was rendered unchanged', () => {
    const object = make('Pod', 'p', { status: {}, spec: { containers: [{ image: 'nginx' }] } });
    const before = structuredClone(object);
    one(object, {
      patches: [{ target: {}, merge: { spec: { x: 1 } } }],
      images: { rewrite: [{ from: 'docker.io', to: 'h' }], fields: [] },
    });
    assert.deepEqual(object, before);
  });
});

describe('the namespace that a plugin asks for', () => {
  it('comes first, and need only exist', () => {
    const { objects, ensure } = finishObjects([make('ConfigMap', 'c')], options({ createNamespace: true }));
    assert.deepEqual(objects[0], { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps', labels: LABELS } });
    assert.deepEqual([...ensure], ['/Namespace//apps']);
  });

  it('is like any other object when the plugin declares it itself', () => {
    const { objects, ensure } = finishObjects([make('Namespace', 'apps')], options({ createNamespace: true }));
    assert.deepEqual([objects.length, ensure.size], [1, 0]);
  });
});

describe('patches', () => {
  const deployment = make('Deployment', 'd', { apiVersion: 'apps/v1', spec: { replicas: 1, paused: true } });

  it('change what they target, in order', () => {
    const patches: Patch[] = [
      { target: { group: 'apps', kind: 'Deployment' }, merge: { spec: { replicas: 2, paused: null } } },
      { target: { name: 'd' }, merge: { spec: { replicas: 3 } } },
      { target: { name: 'other' }, merge: { spec: { replicas: 9 } } },
    ];
    const { objects, warnings } = finishObjects([deployment], options({ patches }));
    assert.deepEqual(objects[0]?.spec, { replicas: 3 });
    assert.deepEqual(warnings, ['no object matches the patch of {"name":"other"}']);
  });

  for (const [what, merge] of [
    ['the name', { metadata: { name: 'x' } }],
    ['the kind', { kind: 'DaemonSet' }],
    ['all metadata', { metadata: null }],
    ['the API version', { apiVersion: 'apps/v2' }],
    ['the namespace', { metadata: { namespace: 'x' } }],
  ] as const) {
    it(`can not change ${what}`, () => {
      assert.throws(() => one(deployment, { patches: [{ target: {}, merge }] }), {
        code: 'RenderFailed',
        message: /another object/,
      });
    });
  }

  it('can not take the ownership labels off', () => {
    const merge = { metadata: { labels: { 'espalier.dev/plugin': null, x: 'y' } } };
    assert.deepEqual(one(deployment, { patches: [{ target: {}, merge }] }).metadata.labels, { x: 'y', ...LABELS });
  });
});

describe('JSON merge patch', () => {
  /** The examples of RFC 7396, appendix A. */
  for (const [target, patch, result] of [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ] satisfies [Json, Json, Json][]) {
    it(`of ${JSON.stringify(target)} with ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(mergePatch(target, patch), result);
    });
  }

  it('treats names that mean something to JavaScript like others', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"a": 1}, "b": 2}') as Json;
    assert.equal(JSON.stringify(mergePatch({}, patch)), JSON.stringify(patch));
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  it('twice is the same as once', () => {
    const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const once = mergePatch(target, patch);
        assert.deepEqual(mergePatch(once, patch), once);
      }),
    );
  });
});

describe('image rewriting', () => {
  it('reaches every container, in whatever kind, and nothing else', () => {
    const pod = {
      containers: [{ name: 'a', image: 'a' }],
      initContainers: [{ name: 'i', image: 'i' }],
      ephemeralContainers: [{ name: 'e', image: 'e' }],
      volumes: [
        { name: 'v', image: { reference: 'v' } },
        { name: 'w', configMap: { name: 'image' } },
      ],
    };
    const job = make('CronJob', 'j', {
      spec: { image: 'field', jobTemplate: { spec: { template: { spec: pod } } } },
      data: { image: 'text' },
    });
    assert.deepEqual(imagesIn([job]), ['a', 'e', 'i', 'v']);
    const finished = one(job, { images: { rewrite: [{ from: 'docker.io/library', to: 'h' }], fields: [] } });
    assert.deepEqual(imagesIn([finished]), ['h/a', 'h/e', 'h/i', 'h/v']);
    assert.equal((finished.spec as { image: string }).image, 'field');
  });

  it('leaves schemas that speak of containers alone', () => {
    const schema = { properties: { containers: { items: { properties: { image: { type: 'string' } } } } } };
    assert.deepEqual(imagesIn([make('X', 'x', { spec: schema })]), []);
  });
});

it('two objects that turn out to be one are refused', () => {
  const objects = [make('ConfigMap', 'c'), make('ConfigMap', 'c', { metadata: { name: 'c', namespace: 'apps' } })];
  assert.throws(() => finishObjects(objects, options()), { message: 'ConfigMap apps/c is declared twice' });
});
