import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startPlatform } from '../cases/support/platform.ts';
import { uniqueName } from '../support/names.ts';
import { packageAt } from './support/cluster-package.ts';

describe('an expansion package in the cluster', { concurrency: 3 }, () => {
  test('that stands as a folder in the repository is installed, hooks, operator and charts in their order', async (t) => {
    const name = uniqueName('demo');
    const hooks = ['pre-install', 'post-install', 'post-cluster-ready'] as const;
    const fields = {
      operator: 'demo/operator:v1',
      values: { web: { greeting: 'hello' }, global: { tier: 'gold' } },
      images: ['demo/alpine:3.10'],
      create_cluster_delegate_conditions: ['EnsureKubelet'],
    };
    const platform = await startPlatform(t, {
      prefix: 'expansion',
      spec: { expansions: { delegateConditions: ['EnsureKubelet'] } },
      files: packageAt('packages/demo', { name, charts: ['web', 'db'], hooks, fields }),
    });
    await platform.pluginReaches(`${name}-operator`, 'Ready');
    await platform.pluginSays(`${name}-web`, /EnsureKubelet/);
    const record = platform.ref('ConfigMap', `${name}-delegated-v1.0`);
    await platform.client.patch(
      record,
      { data: { EnsureKubelet: 'True' } },
      { type: 'merge', fieldManager: 'operator' },
    );
    await platform.settles();
    assert.deepEqual((await platform.get('ConfigMap', `${name}-web`))?.data, {
      greeting: 'hello',
      global: '{"tier":"gold"}',
    });
  });
});
