import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ANNOTATION, API_VERSION, type KubeObject } from '../../../src/api/index.ts';
import type { KubeClient } from '../../../src/cluster/client.ts';
import { startPlatform } from '../support/platform.ts';
import { ALL_IN_ONE, allInOne, apps } from './support/all-in-one.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';

/** May write Plugins and nothing else. */
async function makeTenant(client: KubeClient, namespace: string): Promise<void> {
  const rules = [{ apiGroups: ['espalier.dev'], resources: ['plugins'], verbs: ['get', 'create', 'patch', 'delete'] }];
  const objects: KubeObject[] = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'tenant', namespace } },
    {
      apiVersion: RBAC,
      kind: 'Role',
      metadata: { name: 'tenant', namespace },
      rules: [...rules, { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
    },
    {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata: { name: 'tenant', namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'tenant' },
      subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace }],
    },
  ];
  for (const object of objects) await client.create(object);
}

describe('a nested Plugin', { concurrency: 2 }, () => {
  for (const whose of ['Sync', 'parent'] as const) {
    test(`has the rights of the ${whose}'s account, and not those of the agent`, async (t) => {
      const account = { serviceAccountName: 'tenant' };
      const platform = await startPlatform(t, {
        prefix: 'nested',
        prepare: makeTenant,
        spec: { allowedNamespaces: [], ...(whose === 'Sync' ? account : {}) },
        files: {
          ...ALL_IN_ONE,
          ...apps('one', 'rich', 'far'),
          'plugins/all.yaml': allInOne(
            {
              plugins: {
                one: {},
                rich: { spec: { serviceAccountName: 'rich' } },
                far: { spec: { namespace: { name: 'kube-system' } } },
              },
            },
            whose === 'parent' ? account : {},
          ),
        },
      });
      const who = `system:serviceaccount:${platform.namespace}:tenant`;
      await platform.pluginSays('one', new RegExp(`User "${who}" cannot (create|patch) resource "configmaps"`));
      await platform.pluginSays('far', /"kube-system" is not among spec.allowedNamespaces/);
      if (whose === 'parent')
        await platform.pluginSays('rich', /all, which renders it, runs as .*tenant: leave it out/);
      assert.equal(await platform.exists('one'), false);
      assert.equal(await platform.exists('rich'), false);
      await platform.reaches('Failed');
    });
  }

  test('that renders itself is refused, and nothing else is hurt; one that a person made takes the facts that it names', async (t) => {
    const platform = await startPlatform(t, {
      prefix: 'nested',
      spec: { values: { place: 'here' } },
      files: {
        ...ALL_IN_ONE,
        ...apps('one'),
        'apps/made/objects.yaml': JSON.stringify({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'made' },
          data: { place: '{{ .place }}' },
        }),
        'plugins/all.yaml': allInOne({ plugins: { one: {}, all: {} } }),
        'plugins/good.yaml': allInOne({ plugins: { one: {} } }).replace('"all"', '"good"'),
      },
    });
    await platform.pluginSays('all', /it renders itself: a Plugin can't install what installs it/);
    await platform.pluginReaches('good', 'Ready');
    await platform.pluginReaches('one', 'Ready');
    const { client, namespace } = platform;
    await client.create({
      apiVersion: API_VERSION,
      kind: 'Plugin',
      metadata: { name: 'made', namespace, annotations: { [ANNOTATION.factsOf]: `${namespace}/sync` } },
      spec: { kind: 'manifests', source: { git: { path: 'apps/made', template: true } } },
    });
    await platform.pluginReaches('made', 'Ready');
    assert.deepEqual((await platform.get('ConfigMap', 'made'))?.data, { place: 'here' });
    // What a person made is no part of the commit.
    await platform.says(/^2 plugins ready, 1 failed: all/);
  });
});
