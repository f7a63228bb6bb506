import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { customResourceDefinition, EspalierError, type KubeObject } from '../../api/index.ts';
import { KUBEGEMS_PLUGIN } from '../../compat/kubegems-kind.ts';
import { contentKey } from '../../resolve/key.ts';
import { EDITION, serveKubegems } from './definition.ts';

/** One for each edition: where this fails, the definition has changed, and EDITION must count up. */
const EDITIONS: Readonly<Record<number, string>> = { 1: 'a319e84c5ff3', 2: 'c3ef1418401a' };

test('a definition that changed has a new edition', () => {
  const definition = customResourceDefinition(KUBEGEMS_PLUGIN);
  assert.equal(contentKey({ definition }).slice(0, 12), EDITIONS[EDITION]);
});

const OURS = { 'espalier.dev/edition': String(EDITION) };

function definition(annotations: Record<string, string>, version = 'v1beta1', established = 'True'): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'plugins.plugins.kubegems.io', annotations },
    spec: { versions: [{ name: version, served: true }] },
    status: { conditions: [{ type: 'Established', status: established }] },
  };
}

/** An API server that holds this definition, or none. */
function server(live?: KubeObject) {
  const writes: string[] = [];
  const client = {
    get: async () => live,
    create: async (object: KubeObject) => {
      writes.push('create');
      return object;
    },
    update: async (object: KubeObject) => {
      writes.push(`update to ${object.metadata.annotations?.['espalier.dev/edition']}`);
      return object;
    },
  };
  return { writes, serves: serveKubegems(client) };
}

describe('the definition of KubeGems Plugins', () => {
  test('is made where there is none, and served a moment later', async () => {
    const { writes, serves } = server();
    assert.equal(await serves, false);
    assert.deepEqual(writes, ['create']);
    assert.equal(await server(definition(OURS, 'v1beta1', 'False')).serves, false);
    assert.equal(await server(definition(OURS)).serves, true);
  });

  for (const [what, annotations, expected] of [
    ['of ours from before is brought up to date', { 'espalier.dev/edition': '0' }, [`update to ${EDITION}`]],
    ['of ours stays', OURS, []],
    ['of a newer agent stays', { 'espalier.dev/edition': '99' }, []],
    ["of somebody else's stays", {}, []],
  ] as const) {
    test(`one ${what}`, async () => {
      const { writes, serves } = server(definition(annotations));
      assert.equal(await serves, true);
      assert.deepEqual(writes, expected);
    });
  }

  test('one that does not serve the version is a trouble that says what to do', async () => {
    const { writes, serves } = server(definition({}, 'v1alpha1'));
    await assert.rejects(
      serves,
      (error) =>
        error instanceof EspalierError &&
        /does not serve v1beta1.*Bring it up to date or delete it/.test(error.message),
    );
    assert.deepEqual(writes, []);
  });
});
