import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type KubeObject, LABEL } from '../../../src/api/index.ts';
import { configMap, declareTestSync, getPlugin, pluginYaml, startTestAgent, syncReaches } from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { commitFiles, type NewFile, testGitServer } from '../../support/gitserver.ts';
import type { SeenRequest } from '../../support/httpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';
import type { Moment } from '../support/moments.ts';
import { startMortal } from '../support/mortal.ts';

const FILES = {
  'plugins/a.yaml': pluginYaml('a', 'apps/a'),
  'apps/a/early.yaml': configMap('early'),
  'apps/a/late.yaml': configMap('late'),
  'plugins/b.yaml': pluginYaml('b', 'apps/b'),
  'apps/b/cm.yaml': configMap('b'),
};

interface Fate extends Moment {
  /** Which requests are counted. */
  counts(request: SeenRequest): boolean;
}

/** An agent that dies by its fate, what comes meanwhile, and another agent. */
async function startDoomed(t: TestContext, fate: Fate) {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: 'orphan' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  await commitFiles(repository, FILES);
  const spec = { poll: '1s', prune: { hold: { percent: 100 } } };
  await declareTestSync(client, { namespace, url: repository.url, spec });
  const { counts, ...moment } = fate;
  const options = { namespace, body: 'abandoned', cacheDir: await tempDir(t), counts } as const;
  const agent = await startMortal(t, { ...options, moment });
  return {
    namespace,
    agent,
    find: (name: string): Promise<KubeObject | undefined> =>
      client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name }),
    push: (files: Record<string, NewFile>) => commitFiles(repository, files),
    /** Everything is settled at the commit, by an agent that knows nothing but the cluster. */
    async goOn(commit: string): Promise<void> {
      await client.delete({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        namespace,
        name: 'espalier-agent',
      });
      await startTestAgent(t, { namespace });
      await syncReaches(client, namespace, 'Ready', { commit });
    },
  };
}

const writes =
  (method: string, name: string) =>
  (request: SeenRequest): boolean =>
    request.method === method && request.path.includes(`/${name}`);

test('R2 killed after an object was made and before that was recorded, it still removes the object', async (t) => {
  const doomed = await startDoomed(t, { at: 1, when: 'after', counts: writes('PATCH', 'configmaps/early') });
  await doomed.agent.dead;
  assert.ok(await doomed.find('early'));
  const recorded = (await getPlugin(testClient(), doomed.namespace, 'a'))?.status?.inventory ?? [];
  assert.deepEqual(
    recorded.map(({ name, uid }) => [name, uid]),
    [
      ['early', undefined],
      ['late', undefined],
    ],
    'the intent is on record, and no more',
  );
  await doomed.goOn(await doomed.push({ 'apps/a/early.yaml': null }));
  assert.equal(await doomed.find('early'), undefined);
  assert.ok(await doomed.find('late'));
});

test('R2 the same with the whole plugin gone from Git meanwhile', async (t) => {
  const doomed = await startDoomed(t, { at: 1, when: 'after', counts: writes('PATCH', 'configmaps/early') });
  await doomed.agent.dead;
  await doomed.goOn(await doomed.push({ 'plugins/a.yaml': null }));
  assert.equal(await doomed.find('early'), undefined);
  assert.equal(await doomed.find('late'), undefined);
  assert.equal(await getPlugin(testClient(), doomed.namespace, 'a'), undefined);
});

test('R2 killed before the Sync recorded the Plugin that it made, it still removes the Plugin', async (t) => {
  const doomed = await startDoomed(t, { at: 1, when: 'after', counts: writes('PATCH', 'plugins/a?') });
  await doomed.agent.dead;
  assert.ok(await getPlugin(testClient(), doomed.namespace, 'a'));
  await doomed.goOn(await doomed.push({ 'plugins/a.yaml': null }));
  assert.equal(await getPlugin(testClient(), doomed.namespace, 'a'), undefined);
});

test('an intent gives no right to what somebody else makes under that name meanwhile', async (t) => {
  const doomed = await startDoomed(t, { at: 1, when: 'before', counts: writes('PATCH', 'configmaps/') });
  await doomed.agent.dead;
  const metadata = { name: 'early', namespace: doomed.namespace };
  const own = await testClient().create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { of: 'a person' } });
  await doomed.goOn(await doomed.push({ 'apps/a/early.yaml': null }));
  const found = await doomed.find('early');
  assert.equal(found?.metadata.uid, own.metadata.uid);
  assert.deepEqual(found?.data, { of: 'a person' });
  const record = (await getPlugin(testClient(), doomed.namespace, 'a'))?.status?.inventory ?? [];
  assert.ok(!record.some(({ name }) => name === 'early'), 'and it is not on record any more');
});

test('what was about to be deleted when it died is kept when another plugin has taken it over by then', async (t) => {
  const doomed = await startDoomed(t, { at: 1, when: 'before', counts: writes('DELETE', 'configmaps/early') });
  await syncReaches(testClient(), doomed.namespace, 'Ready');
  const first = await doomed.find('early');
  await doomed.push({ 'apps/a/early.yaml': null });
  await doomed.agent.dead;
  await doomed.goOn(await doomed.push({ 'apps/b/early.yaml': configMap('early') }));
  const now = await doomed.find('early');
  assert.equal(now?.metadata.uid, first?.metadata.uid, 'it was not made anew');
  assert.equal(now?.metadata.labels?.[LABEL.plugin], 'b');
});
