import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject, ManagedFieldsEntry } from '../api/index.ts';
import { matchesLabels, matchesTarget } from '../api/index.ts';
import { rulesOfAutoscalers, withoutIgnored } from './ignore.ts';
import { coversPath, parsePointer, resolvePointer } from './pointer.ts';

const REPLICAS = { 'f:spec': { 'f:replicas': {} } };
const byUs = (fieldsV1: ManagedFieldsEntry['fieldsV1']): ManagedFieldsEntry => ({
  manager: 'espalier',
  operation: 'Apply',
  apiVersion: 'apps/v1',
  ...(fieldsV1 === undefined ? {} : { fieldsV1 }),
});
const byAutoscaler: ManagedFieldsEntry = {
  manager: 'kube-controller-manager',
  operation: 'Update',
  apiVersion: 'apps/v1',
  subresource: 'scale',
  fieldsV1: REPLICAS,
};

function deployment(replicas: number | undefined, managedFields: ManagedFieldsEntry[] = []): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'web', resourceVersion: '7', managedFields },
    spec: replicas === undefined ? {} : { replicas },
  };
}

const RULES = [{ target: { kind: 'Deployment' }, paths: ['/spec/replicas'] }];
const send = (live: KubeObject | undefined, rules = RULES) => withoutIgnored(deployment(2), live, rules, 'espalier');

describe('what is sent of an object whose replicas others may change', () => {
  it('has the declared replicas when the object is created', () => {
    assert.deepEqual(send(undefined), { object: deployment(2) });
  });

  it('leaves replicas out once an autoscaler holds them', () => {
    const sent = send(deployment(5, [byUs({}), byAutoscaler]));
    assert.deepEqual(sent, { object: deployment(undefined) });
  });

  it('leaves replicas out that both hold, as the autoscaler keeps them', () => {
    assert.deepEqual(send(deployment(2, [byUs(REPLICAS), byAutoscaler])).object.spec, {});
  });

  it('sends the live value, against that version alone, while nobody but us holds them', () => {
    const sent = send(deployment(4, [byUs(REPLICAS)]));
    assert.deepEqual([sent.object.spec, sent.onlyAgainst], [{ replicas: 4 }, '7']);
  });

  it('sees an autoscaler at work without any rule', () => {
    assert.deepEqual(send(deployment(5, [byAutoscaler]), []).object.spec, {});
  });

  it('does not take kubectl scale for an autoscaler', () => {
    const live = deployment(5, [{ ...byAutoscaler, manager: 'kubectl' }]);
    assert.deepEqual(send(live, []).object.spec, { replicas: 2 });
  });

  it('ignores nothing in objects that the rule does not mean', () => {
    assert.deepEqual(
      send(deployment(5, [byAutoscaler]), [{ target: { kind: 'Job' }, paths: ['/spec'] }]).object.spec,
      {},
    );
    assert.deepEqual(send(deployment(5), [{ target: { kind: 'Job' }, paths: ['/spec'] }]).object.spec, { replicas: 2 });
  });

  it('does not change the declaration that it was given', () => {
    const declared = deployment(2);
    withoutIgnored(declared, deployment(5), RULES, 'espalier');
    assert.deepEqual(declared, deployment(2));
  });

  it('removes items and fields of items, wherever in their list they are', () => {
    const pod = (containers: unknown[]): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers },
    });
    const declared = pod([
      { name: 'a', image: 'a' },
      { name: 'b', image: 'b' },
      { name: 'c', image: 'c' },
    ]);
    const rules = [{ paths: ['/spec/containers/name=b', '/spec/containers/*/image', '/spec/containers/name=b'] }];
    assert.deepEqual(withoutIgnored(declared, pod([]), rules, 'espalier').object, pod([{ name: 'a' }, { name: 'c' }]));
  });

  it('knows the targets of autoscalers', () => {
    const spec = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } };
    const metadata = { name: 'web', namespace: 'web' };
    const rules = rulesOfAutoscalers([
      { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata, spec },
      { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata, spec: {} },
    ]);
    assert.deepEqual(rules, [
      { target: { group: 'apps', kind: 'Deployment', name: 'web', namespace: 'web' }, paths: ['/spec/replicas'] },
    ]);
  });
});

describe('pointers', () => {
  const object = { spec: { containers: [{ name: 'a' }, { name: 'app', ports: [{ containerPort: 80 }] }] } };
  const image = [{ field: 'spec' }, { field: 'containers' }, { key: { name: 'app' } }, { field: 'image' }];

  for (const [pointer, covers] of [
    ['/spec', true],
    ['/spec/containers/*/image', true],
    ['/spec/containers/1/image', true],
    ['/spec/containers/0/image', false],
    ['/spec/containers/name=app', true],
    ['/spec/containers/name=app/image/deeper', false],
    ['/spec/contain', false],
    ['/spec/containers/name=a/image', false],
    ['/spec/containers/app/image', false],
  ] as const) {
    it(`${pointer} ${covers ? 'covers' : 'does not cover'} spec.containers[name=app].image`, () => {
      assert.equal(coversPath(parsePointer(pointer), image, object), covers);
    });
  }

  it('find every place that they name', () => {
    assert.deepEqual(resolvePointer(object, parsePointer('/spec/containers/*/name')), [
      ['spec', 'containers', 0, 'name'],
      ['spec', 'containers', 1, 'name'],
    ]);
    assert.deepEqual(resolvePointer(object, parsePointer('/spec/containers/name=app/ports/containerPort=80')), [
      ['spec', 'containers', 1, 'ports', 0],
    ]);
    assert.deepEqual(resolvePointer(object, parsePointer('/constructor/name')), []);
  });

  it('escape slashes and tildes as RFC 6901 says, and begin with a slash', () => {
    assert.deepEqual(parsePointer('/metadata/annotations/example.com~1a~0b'), [
      'metadata',
      'annotations',
      'example.com/a~b',
    ]);
    assert.throws(() => parsePointer('spec.replicas'), { code: 'InvalidDeclaration' });
  });
});

describe('targets', () => {
  const object = deployment(1);
  object.metadata.labels = { app: 'web', tier: 'front' };

  it('match by what they say', () => {
    assert.ok(matchesTarget(object, undefined));
    assert.ok(matchesTarget(object, {}));
    assert.ok(
      matchesTarget(object, { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web', namespace: 'web' }),
    );
    assert.ok(!matchesTarget(object, { group: '' }));
    assert.ok(!matchesTarget(object, { name: 'other' }));
    assert.ok(!matchesTarget(object, { labelSelector: 'app=api' }));
  });

  for (const [selector, matches] of [
    ['app=web', true],
    ['app==web,tier!=back', true],
    ['app in (api, web),tier', true],
    ['app notin (web)', false],
    ['missing notin (x)', true],
    ['missing!=x', true],
    ['!missing', true],
    ['!app', false],
    ['missing', false],
    ['', true],
    ['constructor', false],
  ] as const) {
    it(`selector "${selector}" ${matches ? 'matches' : 'does not match'}`, () => {
      assert.equal(matchesLabels({ app: 'web', tier: 'front' }, selector), matches);
    });
  }
});
