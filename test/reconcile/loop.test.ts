import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMap,
  declareTestSync,
  getPlugin,
  pluginReaches,
  pluginYaml,
  startTestAgent,
  syncReaches,
} from '../support/agent.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { commitFiles, testGitServer } from '../support/gitserver.ts';

test('a commit becomes objects, the next one changes just what it touched, and a removed plugin takes its objects along', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  const first = await commitFiles(repository, {
    'plugins/a.yaml': pluginYaml('a', 'apps/a'),
    'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ name: 'a' }] }),
    'plugins/c.yaml': pluginYaml('c', 'apps/c'),
    'apps/a/cm.yaml': configMap('a'),
    'apps/b/cm.yaml': configMap('b'),
    'apps/c/cm.yaml': configMap('c'),
  });
  await declareTestSync(client, { namespace, url: repository.url });
  const agent = await startTestAgent(t, { namespace });
  const sync = await syncReaches(client, namespace, 'Ready', { commit: first });
  assert.equal(sync.status?.plugins?.ready, 3);
  const b = await getPlugin(client, namespace, 'b');

  const second = await commitFiles(repository, { 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
  agent.lookNow();
  await syncReaches(client, namespace, 'Ready', { commit: second });
  const live = await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' });
  assert.deepEqual(live?.data, { a: '2' });
  assert.equal(
    (await getPlugin(client, namespace, 'b'))?.metadata.resourceVersion,
    b?.metadata.resourceVersion,
    'b was not touched',
  );

  const third = await commitFiles(repository, { 'plugins/c.yaml': null });
  agent.lookNow();
  await syncReaches(client, namespace, 'Ready', { commit: third });
  assert.equal(await getPlugin(client, namespace, 'c'), undefined);
  assert.equal(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'c' }), undefined);
});

test('a field that somebody changed is restored, and so is an object that somebody deleted', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  await commitFiles(repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') });
  await declareTestSync(client, { namespace, url: repository.url });
  await startTestAgent(t, { namespace });
  await syncReaches(client, namespace, 'Ready');
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' };
  await client.patch(ref, { data: { a: 'by hand', b: 'stays' } }, { type: 'merge', fieldManager: 'somebody' });
  const restored = await eventually(async () => {
    const live = await client.get(ref);
    assert.equal((live?.data as Record<string, string> | undefined)?.a, '1');
    return live;
  });
  assert.equal(
    (restored?.data as Record<string, string> | undefined)?.b,
    'stays',
    'what nobody declared is left alone',
  );
  await client.delete(ref);
  await eventually(async () => assert.notEqual(await client.get(ref), undefined));
  await pluginReaches(client, namespace, 'a', 'Ready');
});
