import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import { testClient } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { ownControlPlane } from '../support/plane.ts';
import { startWatch } from './watchlog.ts';

/** What would disturb other tests of a shared cluster: a restart of the API server, and an aggregated API that is down. */
test('with an API server of its own', async (t) => {
  const plane = await ownControlPlane(t);
  const client = testClient({ kubeconfig: plane.kubeconfigPath });

  await t.test('an aggregated API that is down is an error for its kinds, never an unknown kind', (t) =>
    brokenAggregation(t, client),
  );

  await t.test('watches survive a restart of the API server: what happened meanwhile is told once', async (t) => {
    const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', labelSelector: 'test=restart' };
    const configMap = (name: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'default', labels: { test: 'restart' } },
    });
    await client.create(configMap('a'));
    const logs = Array.from({ length: 20 }, () => startWatch(t, client, target));
    await Promise.all(logs.map(({ watch }) => watch.synced));
    await plane.restartApiServer({ graceMs: 500 });
    await client.create(configMap('b'));
    await client.delete({ ...configMap('a'), namespace: 'default', name: 'a' });
    await eventually(
      () => {
        for (const { events } of logs) assert.deepEqual([...events].sort(), ['added a', 'added b', 'deleted a']);
      },
      // A watch that failed again and again while the server was away waits for 10 s before its next try.
      { timeoutMs: 40_000 },
    );
  });
});

async function brokenAggregation(t: TestContext, client: KubeClient): Promise<void> {
  const group = 'down.example.com';
  const service = {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'default', name: 'nobody' },
      insecureSkipTLSVerify: true,
    },
  };
  await client.create(service);
  t.after(() => client.delete({ ...service, name: service.metadata.name }));
  const ask = () =>
    client.get({ apiVersion: `${group}/v1`, kind: 'Thing', name: 'x' }).catch((error: unknown) => {
      if (isError(error)) return error.code;
      throw error;
    });
  // Until the registration is noticed the group is truly unknown; from then on it is an error, and stays one.
  await eventually(async () => assert.equal(await ask(), 'KubeServerError'));
  assert.equal(await ask(), 'KubeServerError');
  assert.equal((await client.resource('v1', 'Pod')).plural, 'pods');
  await eventually(() => assert.rejects(client.resources(), (error) => isError(error, 'KubeServerError')), {
    timeoutMs: 15_000,
  });
  assert.ok((await client.resources({ partial: true })).some(({ kind }) => kind === 'Pod'));
}
