import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION, API_VERSION, LABEL } from '../../../src/api/index.ts';
import { configMap, declareTestSync, pluginYaml } from '../../support/agent.ts';
import { always, eventually } from '../../support/eventually.ts';
import { commitFiles } from '../../support/gitserver.ts';
import type { SeenRequest } from '../../support/httpproxy.ts';
import { startPlatform } from '../support/platform.ts';
import { startProxied } from '../support/proxied.ts';

test('D11: two Syncs declare one Plugin: the first keeps it, the other is told which, and neither takes it along', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a', { from: 'sync' }) },
  });
  const { client, namespace, server } = platform;
  await platform.settles();
  const uid = await platform.uid('a');
  const other = await server.createRepository('other');
  await commitFiles(other, {
    'a.yaml': pluginYaml('a', 'here/a'),
    'b.yaml': pluginYaml('b', 'here/b'),
    'here/a/cm.yaml': configMap('a', { from: 'other' }),
    'here/b/cm.yaml': configMap('b'),
  });
  await declareTestSync(client, { namespace, name: 'other', url: other.url });
  const told = await eventually(async () => {
    const { status } = await platform.sync('other');
    assert.equal(status?.phase, 'Failed');
    return status;
  });
  assert.match(
    told.message ?? '',
    new RegExp(`a.yaml: Plugin a: Sync ${namespace}/sync declares it already, and keeps it`),
  );
  await platform.pluginReaches('b', 'Ready');
  assert.equal((await platform.plugin('a'))?.metadata.labels?.[LABEL.sync], 'sync');
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { from: 'sync' });

  await commitFiles(other, { 'a.yaml': null });
  platform.look();
  await eventually(async () => assert.equal((await platform.sync('other')).status?.phase, 'Ready'));
  assert.equal(await platform.uid('a'), uid, 'the other takes nothing along that it never had');

  await commitFiles(other, { 'a.yaml': pluginYaml('a', 'here/a') });
  platform.look();
  await eventually(async () => assert.equal((await platform.sync('other')).status?.phase, 'Failed'));
  await platform.push({
    'plugins/a.yaml': null,
    'plugins/c.yaml': pluginYaml('c', 'apps/c'),
    'apps/c/cm.yaml': configMap('c'),
  });
  const plugin = await eventually(
    async () => {
      const found = await platform.plugin('a');
      assert.equal(found?.metadata.labels?.[LABEL.sync], 'other');
      assert.equal(found?.status?.observedGeneration, found?.metadata.generation);
      assert.equal(found?.status?.phase, 'Ready');
      return found;
    },
    { timeoutMs: 20_000 },
  );
  assert.equal(plugin.metadata.deletionTimestamp, undefined);
  assert.equal(await platform.uid('a'), uid);
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { from: 'other' }, 'who let go of it has let go');
});

test('D11: two Syncs that begin at the same moment with one Plugin end with one writer, and no fight', async (t) => {
  const platform = await startPlatform(t, { files: { 'README.md': 'nothing yet' } });
  const { client, namespace, server, repository } = platform;
  await platform.settles();
  const other = await server.createRepository('other');
  const files = { 'a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') };
  const commits = [await commitFiles(repository, files), await commitFiles(other, files)];
  await declareTestSync(client, { namespace, name: 'other', url: other.url });
  platform.look();
  const owner = await eventually(async () => {
    const said = [(await platform.sync()).status, (await platform.sync('other')).status];
    // What was said before about nothing does not count.
    const phases = said.map((one, index) => (one?.observed?.commit === commits[index] ? one?.phase : undefined));
    assert.deepEqual(phases.toSorted(), ['Failed', 'Ready']);
    return phases[0] === 'Ready' ? 'sync' : 'other';
  });
  const before = await platform.plugin('a');
  assert.equal(before?.metadata.labels?.[LABEL.sync], owner);
  await always(async () => {
    platform.look();
    const { metadata } = (await platform.plugin('a')) ?? {};
    assert.equal(metadata?.resourceVersion, before?.metadata.resourceVersion);
  });
});

test('D11: two Syncs write one Plugin at the same moment, and the earlier answer comes last: one has it, the other is told', async (t) => {
  const { proxy, kubeconfig } = await startProxied(t);
  const isWatch = ({ path }: SeenRequest) => /\/plugins\?.*watch=/.test(path);
  const isWrite = ({ method, path }: SeenRequest) => method === 'PATCH' && path.includes('/plugins/a?');
  // Answers are all that is heard of Plugins: the watch is late.
  proxy.before = (request) => (isWatch(request) ? 'hang' : undefined);
  const platform = await startPlatform(t, { files: { 'README.md': 'nothing yet' }, agent: { kubeconfig } });
  await platform.settles();
  const writes: SeenRequest[] = [];
  const [bothSent, firstDone, secondDone] = [newEvent(), newEvent(), newEvent()];
  proxy.before = async (request) => {
    if (isWatch(request)) return 'hang';
    if (!isWrite(request)) return undefined;
    if (writes.push(request) === 2) bothSent.resolve();
    await bothSent.promise;
    if (request === writes[1]) await firstDone.promise;
    return undefined;
  };
  proxy.after = async (request) => {
    if (request === writes[0]) {
      firstDone.resolve();
      await secondDone.promise;
    } else if (request === writes[1]) setTimeout(secondDone.resolve, 300);
    return undefined;
  };
  const other = await platform.server.createRepository('other');
  const files = { 'a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') };
  await commitFiles(platform.repository, files);
  await commitFiles(other, files);
  await declareTestSync(platform.client, { namespace: platform.namespace, name: 'other', url: other.url });
  platform.look();
  await eventually(async () => {
    const syncs = [await platform.sync(), await platform.sync('other')];
    const owner = (await platform.plugin('a'))?.metadata.labels?.[LABEL.sync];
    const phases = syncs.map(({ metadata, status }) => `${metadata.name === owner} ${status?.phase}`);
    assert.deepEqual(phases.toSorted(), ['false Failed', 'true Ready']);
  });
});

test('D11: two Plugins declare one object: the first keeps it, the other is told which, and gets it when the first lets go', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/first.yaml': pluginYaml('first', 'apps/first'),
      'apps/first/cm.yaml': configMap('shared', { from: 'first' }),
      'apps/first/own.yaml': configMap('first'),
    },
  });
  await platform.settles();
  const uid = await platform.uid('shared');

  await platform.push({
    'plugins/second.yaml': pluginYaml('second', 'apps/second'),
    'apps/second/cm.yaml': configMap('shared', { from: 'second' }),
    'apps/second/own.yaml': configMap('second'),
  });
  const second = await platform.pluginReaches('second', 'Failed');
  assert.match(
    second.status?.message ?? '',
    new RegExp(`ConfigMap .*/shared: conflict with plugin ${platform.namespace}/first: that plugin declared it first`),
  );
  assert.equal(second.status?.conditions?.find((one) => one.type === 'Ready')?.reason, 'OwnershipConflict');
  assert.ok(await platform.exists('second'), 'what nobody disputes is applied');
  assert.equal((await platform.plugin('first'))?.status?.phase, 'Ready');
  assert.deepEqual((await platform.get('ConfigMap', 'shared'))?.data, { from: 'first' });

  await platform.push({ 'plugins/first.yaml': null });
  await platform.settles();
  const live = await platform.get('ConfigMap', 'shared');
  assert.equal(live?.metadata.uid, uid);
  assert.deepEqual(live?.data, { from: 'second' });
  assert.equal(live?.metadata.labels?.[LABEL.plugin], 'second');
  await platform.isGone('ConfigMap', 'first');
});

test('D11: two Plugins that declare one new object in the same commit end with one writer, and no fight', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'plugins/b.yaml': pluginYaml('b', 'apps/b'),
      'apps/a/cm.yaml': configMap('shared', { from: 'a' }),
      'apps/b/cm.yaml': configMap('shared', { from: 'b' }),
    },
  });
  const phases = async () =>
    (await Promise.all(['a', 'b'].map((name) => platform.plugin(name)))).map((plugin) => plugin?.status?.phase);
  await eventually(async () => assert.deepEqual((await phases()).toSorted(), ['Failed', 'Ready']));
  const owner = (await phases())[0] === 'Ready' ? 'a' : 'b';
  const live = await platform.get('ConfigMap', 'shared');
  assert.equal(live?.metadata.labels?.[LABEL.plugin], owner);
  assert.deepEqual(live?.data, { from: owner });
  await always(async () => {
    const { metadata } = (await platform.get('ConfigMap', 'shared')) ?? {};
    assert.equal(metadata?.resourceVersion, live?.metadata.resourceVersion);
  });
});

test('D12: an object that exists and that nobody declared is untouched and reported, also when the plugin goes; asking adopts it', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/a/cm.yaml': configMap('found', { mine: 'no' }),
      'apps/a/own.yaml': configMap('own'),
      'apps/other/cm.yaml': configMap('other'),
    },
    prepare: async (client, namespace) => {
      await client.create(JSON.parse(configMap('found', { theirs: 'yes' }, namespace)), { fieldManager: 'somebody' });
    },
  });
  const before = await platform.get('ConfigMap', 'found');
  const failed = await platform.pluginReaches('a', 'Failed');
  assert.match(
    failed.status?.message ?? '',
    /ConfigMap .*\/found: conflict with somebody: it exists and no plugin declares it; to take it over/,
  );
  await platform.pluginReaches('other', 'Ready');
  assert.ok(await platform.exists('own'));
  const untouched = async () =>
    assert.equal(
      (await platform.get('ConfigMap', 'found'))?.metadata.resourceVersion,
      before?.metadata.resourceVersion,
    );
  await untouched();

  await platform.push({ 'plugins/a.yaml': null });
  await platform.settles();
  await platform.isGone('ConfigMap', 'own');
  await untouched();

  await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { apply: { adopt: true } }) });
  await platform.settles();
  const adopted = await platform.get('ConfigMap', 'found');
  assert.equal(adopted?.metadata.uid, before?.metadata.uid);
  assert.deepEqual(adopted?.data, { mine: 'no', theirs: 'yes' });

  await platform.push({ 'plugins/a.yaml': null });
  await platform.settles();
  await platform.isGone('ConfigMap', 'found');
});

test('D12: the annotation on one object adopts that object alone', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/cm.yaml': configMap('found'),
      'apps/a/more.yaml': configMap('not-asked'),
    },
    prepare: async (client, namespace) => {
      const { metadata, ...found } = JSON.parse(configMap('found', { theirs: 'yes' }, namespace));
      await client.create({ ...found, metadata: { ...metadata, annotations: { [ANNOTATION.adopt]: 'true' } } });
      await client.create(JSON.parse(configMap('not-asked', { theirs: 'yes' }, namespace)));
    },
  });
  const failed = await platform.pluginReaches('a', 'Failed');
  assert.match(failed.status?.message ?? '', /not-asked: .*it exists/);
  assert.equal((await platform.get('ConfigMap', 'found'))?.metadata.labels?.[LABEL.plugin], 'a');
  assert.equal((await platform.get('ConfigMap', 'not-asked'))?.metadata.labels, undefined);
});

test('D12: a Plugin that a person made is not taken by a Sync that declares one of its name, unless asked', async (t) => {
  const annotations = { [ANNOTATION.adopt]: 'true' };
  const plugin = (metadata: object) => ({
    ...JSON.parse(pluginYaml('a', 'apps/a')),
    metadata: { name: 'a', ...metadata },
  });
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
    prepare: async (client, namespace) => {
      const made = { ...plugin({ namespace }), spec: { ...plugin({}).spec, suspend: true } };
      await client.create(made, { fieldManager: 'somebody' });
    },
  });
  const before = await platform.plugin('a');
  const sync = await platform.reaches('Failed');
  assert.match(
    sync.status?.message ?? '',
    /Plugin a: it exists already and no Sync wrote it; to take it over, annotate/,
  );
  assert.equal((await platform.plugin('a'))?.metadata.generation, before?.metadata.generation);

  await platform.push({ 'plugins/a.yaml': JSON.stringify(plugin({ annotations })) });
  await eventually(async () => {
    const taken = await platform.client.get(platform.ref('Plugin', 'a', API_VERSION));
    assert.equal(taken?.metadata.labels?.[LABEL.sync], 'sync');
    assert.equal(taken?.metadata.uid, before?.metadata.uid);
  });
});

function newEvent(): PromiseWithResolvers<void> {
  return Promise.withResolvers<void>();
}
