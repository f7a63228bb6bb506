import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LABEL } from '../../../src/api/index.ts';
import { configMap, getPlugin, pluginYaml, syncReaches } from '../../support/agent.ts';
import { testClient } from '../../support/cluster.ts';
import type { SeenRequest } from '../../support/httpproxy.ts';
import { type Fate, startDoomedWith } from './support/doomed.ts';

const FILES = {
  'plugins/a.yaml': pluginYaml('a', 'apps/a'),
  'apps/a/early.yaml': configMap('early'),
  'apps/a/late.yaml': configMap('late'),
  'plugins/b.yaml': pluginYaml('b', 'apps/b'),
  'apps/b/cm.yaml': configMap('b'),
};

const startDoomed = (t: TestContext, fate: Fate) => startDoomedWith(t, FILES, fate);

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
