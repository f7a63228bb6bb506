import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, refKey, refOf } from '../api/index.ts';
import { leftDefinitions } from './left-definitions.ts';

interface Wish {
  fields?: string[];
  versions?: string[];
  stored?: string[];
  mark?: string;
}

function definition({ fields = ['size'], versions = ['v1'], stored, mark }: Wish): KubeObject {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
  const schema = { openAPIV3Schema: { properties: { spec: { properties } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'gadgets.example.com',
      ...(mark === undefined ? {} : { annotations: { 'controller-gen.kubebuilder.io/version': mark } }),
    },
    spec: { versions: versions.map((name) => ({ name, served: true, schema })) },
    ...(stored === undefined ? {} : { status: { storedVersions: stored } }),
  } as KubeObject;
}

function why(declared: Wish, live: Wish): string | undefined {
  const object = definition(declared);
  const key = refKey(refOf(object));
  const spec = { upgrade: { crds: 'replace' } } as Parameters<typeof leftDefinitions>[0]['spec'];
  const rendered = { objects: [object], definitions: new Set([key]) };
  return leftDefinitions({ spec }, rendered, new Map([[key, definition(live)]]))[0]?.why;
}

describe('a definition of a chart is left as it is in the cluster', () => {
  test('when a version that is served or stored there is not in the chart', () => {
    assert.match(why({ versions: ['v1'] }, { versions: ['v1', 'v2'] }) ?? '', /it has v2, which the chart lacks/);
    assert.match(why({ versions: ['v1'] }, { versions: ['v1'], stored: ['v1beta1'] }) ?? '', /v1beta1/);
  });

  test('when its own mark says that it is newer there', () => {
    assert.match(why({ mark: 'v0.14.0' }, { mark: 'v0.16.1' }) ?? '', /v0\.16\.1, in the chart v0\.14\.0/);
  });

  test('when the chart only takes fields away', () => {
    const told = why({ fields: ['size'] }, { fields: ['size', 'colour'] });
    assert.equal(
      told,
      'CustomResourceDefinition gadgets.example.com is newer in the cluster (v1 has .spec.colour, which the chart lacks) and is not downgraded',
    );
  });
});

test('a definition that has more fields, other ones, or a newer mark is taken from the chart', () => {
  assert.equal(why({ fields: ['size', 'colour'] }, { fields: ['size'] }), undefined);
  assert.equal(why({ fields: ['size', 'shape'] }, { fields: ['size', 'colour'] }), undefined);
  assert.equal(why({ fields: ['size'], mark: 'v0.16.1' }, { fields: ['size', 'colour'], mark: 'v0.14.0' }), undefined);
  assert.equal(why({}, {}), undefined);
});
