import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  configMap,
  declareTestSync,
  getPlugin,
  pluginYaml,
  spawnTestAgent,
  startTestAgent,
  syncReaches,
} from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';
import { startProxied } from '../support/proxied.ts';

/** 2 s of grace as tests have it, 2 s for what is aborted to unwind, and what a busy machine adds. A write has 40 s. */
const IN_TIME_MS = 20_000;

test('R11 told to stop while a write is never answered, the agent exits in time and gives up its lease; the next one goes on at once', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: 'stopped' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const files = { 'apps/a/one.yaml': configMap('one'), 'apps/a/two.yaml': configMap('two') };
  await commitFiles(repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...files });
  await declareTestSync(client, { namespace, url: repository.url });
  const { proxy, kubeconfig } = await startProxied(t);
  let hangs = 0;
  proxy.before = ({ method, path }) => {
    if (method !== 'PATCH' || !path.includes('/configmaps/two')) return undefined;
    hangs++;
    return 'hang';
  };
  const child = spawnTestAgent(t, { namespace, kubeconfig, cacheDir: await tempDir(t) });
  await eventually(() => assert.ok(hangs > 0), { timeoutMs: 30_000 });

  const stopped = Date.now();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.ok(Date.now() - stopped < IN_TIME_MS, `took ${Date.now() - stopped} ms`);
  assert.equal(code, 0);
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: 'espalier-agent' };
  const spec = (await client.get(lease))?.spec as { holderIdentity?: string } | undefined;
  assert.equal(spec?.holderIdentity ?? '', '');

  await startTestAgent(t, { namespace });
  await syncReaches(client, namespace, 'Ready');
  assert.ok(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'two' }));
});

test('R11 told to stop in mid-apply, the agent exits within its grace period, and the next one goes on', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await (await testGitServer(t)).createRepository('platform');
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`apps/many/cm-${index}.yaml`, configMap(`cm-${index}`)]),
  );
  await commitFiles(repository, { 'plugins/many.yaml': pluginYaml('many', 'apps/many'), ...many });
  await declareTestSync(client, { namespace, url: repository.url });
  const child = spawnTestAgent(t, { namespace, cacheDir: await tempDir(t) });
  await eventually(
    async () => assert.ok(((await getPlugin(client, namespace, 'many'))?.status?.inventory ?? []).length > 0),
    { timeoutMs: 30_000 },
  );
  const stopped = Date.now();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.ok(Date.now() - stopped < IN_TIME_MS, `took ${Date.now() - stopped} ms`);
  assert.equal(code, 0);
  await startTestAgent(t, { namespace });
  await syncReaches(client, namespace, 'Ready');
  const { items } = await client.list({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace,
    labelSelector: 'espalier.dev/plugin=many',
  });
  assert.equal(items.length, 400);
});
