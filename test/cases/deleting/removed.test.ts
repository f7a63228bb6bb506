import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, FINALIZER, LABEL } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { always, eventually } from '../../support/eventually.ts';
import { type Platform, startPlatform } from '../support/platform.ts';
import { widgetKind } from '../support/widgets.ts';

const BROKEN = 'kind: ConfigMap\nmetadata: {name: [\n';

const both = {
  'plugins/a.yaml': pluginYaml('a', 'apps/a'),
  'plugins/b.yaml': pluginYaml('b', 'apps/b'),
  'apps/a/cm.yaml': configMap('a'),
  'apps/b/cm.yaml': configMap('b'),
};

function removePlugin({ client, ref }: Platform, name: string): Promise<unknown> {
  return client.delete(ref('Plugin', name, API_VERSION));
}

test('a disabled plugin is removed with its objects, stays ready as such, and is installed again when enabled', async (t) => {
  const platform = await startPlatform(t, { files: both });
  await platform.settles();

  await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { enabled: false }) });
  await platform.settles();
  await platform.isGone('ConfigMap', 'a');
  const disabled = await platform.pluginReaches('a', 'Ready');
  assert.equal(disabled.status?.message, 'not installed: disabled');
  assert.deepEqual(disabled.status?.inventory, []);

  await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a') });
  await platform.settles();
  assert.ok(await platform.exists('a'));
});

test('a plugin whose `when` no longer matches is removed, others may be removed beside it, and it comes back', async (t) => {
  const when = { cluster: { tier: 'prod' } };
  const platform = await startPlatform(t, {
    files: { ...both, 'plugins/a.yaml': pluginYaml('a', 'apps/a', { when }) },
    spec: { cluster: { labels: { tier: 'prod' } } },
  });
  await platform.settles();

  await platform.edit({ cluster: { labels: { tier: 'test' } } });
  await platform.pluginSays('a', /^not installed: .*tier/);
  await platform.isGone('ConfigMap', 'a');
  await platform.settles();
  await platform.restart();
  await platform.push({ 'plugins/b.yaml': null });
  await platform.settles();
  await platform.isGone('ConfigMap', 'b');

  await platform.edit({ cluster: { labels: { tier: 'prod' } } });
  await platform.pluginSays('a', /1 object healthy/);
  assert.ok(await platform.exists('a'));
});

test('a removal while others need it is refused with their names, and goes on when they need it no more', async (t) => {
  const needs = { dependsOn: [{ name: 'a' }] };
  const platform = await startPlatform(t, { files: { ...both, 'plugins/b.yaml': pluginYaml('b', 'apps/b', needs) } });
  await platform.settles();
  const uid = await platform.uid('a');

  await removePlugin(platform, 'a');
  await platform.pluginSays('a', new RegExp(`^still needed by ${platform.namespace}/b;`));
  assert.equal((await platform.plugin('a'))?.status?.phase, 'Held');
  await always(async () => assert.equal(await platform.uid('a'), uid), { forMs: 500 });
  assert.equal((await platform.plugin('b'))?.status?.phase, 'Ready', 'what is installed is not taken back');

  await platform.push({ 'plugins/b.yaml': pluginYaml('b', 'apps/b'), 'plugins/a.yaml': null });
  await platform.settles();
  await platform.isGone('ConfigMap', 'a');
  assert.equal(await platform.plugin('a'), undefined);
});

test('disabling a plugin that others need is refused with their names', async (t) => {
  const needs = { dependsOn: [{ name: 'a' }] };
  const platform = await startPlatform(t, { files: { ...both, 'plugins/b.yaml': pluginYaml('b', 'apps/b', needs) } });
  await platform.settles();

  await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { enabled: false }) });
  const plugin = await platform.pluginReaches('a', 'Held');
  assert.match(plugin.status?.message ?? '', new RegExp(`^still needed by ${platform.namespace}/b;`));
  assert.ok(await platform.exists('a'));

  await platform.push({ 'plugins/b.yaml': pluginYaml('b', 'apps/b', { enabled: false, ...needs }) });
  await platform.pluginSays('a', /^not installed: disabled/);
  for (const name of ['a', 'b']) await platform.isGone('ConfigMap', name);
});

test('a commit that removes a plugin and leaves one that depends on it is refused with file and line, and removes nothing', async (t) => {
  const needs = { dependsOn: [{ name: 'a' }] };
  const platform = await startPlatform(t, { files: { ...both, 'plugins/b.yaml': pluginYaml('b', 'apps/b', needs) } });
  await platform.settles();

  await platform.push({ 'plugins/a.yaml': null });
  const sync = await platform.reaches('Failed');
  assert.match(sync.status?.message ?? '', /^plugins\/b\.yaml:\d+:\d+: Plugin b: .*\ba\b/);
  for (const name of ['a', 'b']) assert.ok(await platform.exists(name));
});

test('dependents are removed first', async (t) => {
  const gone: string[] = [];
  const platform = await startPlatform(t, {
    files: {
      ...both,
      'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ name: 'a' }] }),
      ...Object.fromEntries(['x', 'y'].map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)])),
      ...Object.fromEntries(['x', 'y'].map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
    },
  });
  await platform.settles();
  const hold = { metadata: { finalizers: ['example.com/hold'] } };
  await platform.client.patch(platform.ref('ConfigMap', 'b'), hold, { type: 'merge' });

  await platform.push({ 'plugins/a.yaml': null, 'plugins/b.yaml': null });
  await platform.pluginSays('a', /waits until .*\/b is removed/);
  assert.ok(await platform.exists('a'));
  gone.push('b');
  await platform.client.patch(platform.ref('ConfigMap', 'b'), { metadata: { finalizers: null } }, { type: 'merge' });
  await platform.settles();
  for (const name of ['a', 'b']) assert.equal(await platform.exists(name), false);
});

test('a Plugin that somebody deletes by hand goes in order, waits for an unknown one, and is written again', async (t) => {
  const platform = await startPlatform(t, { files: both });
  await platform.settles();
  const before = await platform.uid('a');

  await platform.push({ 'apps/b/broken.yaml': BROKEN });
  await platform.pluginReaches('b', 'Failed');
  await removePlugin(platform, 'a');
  await platform.pluginSays('a', /it was deleted; waits for Plugin .*\/b to render, before anything is deleted/);
  assert.equal(await platform.uid('a'), before);

  await platform.push({ 'apps/b/broken.yaml': null });
  await platform.settles();
  await eventually(async () => assert.notEqual(await platform.uid('a'), before));
  await platform.settles();
});

test('with spec.prune.enabled false nothing goes, the Sync is ready and names what stays; switching it on removes it', async (t) => {
  const platform = await startPlatform(t, {
    files: { ...both, 'apps/b/more.yaml': configMap('more') },
    spec: { prune: { enabled: false } },
  });
  await platform.settles();

  await platform.push({ 'plugins/a.yaml': null, 'apps/b/more.yaml': null });
  const sync = await platform.settles();
  assert.match(sync.status?.message ?? '', /left in place: Plugin .*\/a, because spec\.prune\.enabled is false/);
  await platform.pluginSays('b', /not removed \(spec\.prune\.enabled of the Sync is false\): ConfigMap .*\/more/);
  for (const name of ['a', 'more']) assert.ok(await platform.exists(name));

  await platform.edit({ prune: { enabled: true } });
  for (const name of ['a', 'more']) await platform.isGone('ConfigMap', name);
  await platform.settles();
});

test('deletion.policy orphan leaves the objects when the plugin goes', async (t) => {
  const platform = await startPlatform(t, {
    files: { ...both, 'plugins/a.yaml': pluginYaml('a', 'apps/a', { deletion: { policy: 'orphan' } }) },
  });
  await platform.settles();
  const uid = await platform.uid('a');
  await platform.push({ 'plugins/a.yaml': null });
  await platform.settles();
  assert.equal(await platform.plugin('a'), undefined);
  assert.equal(await platform.uid('a'), uid);
});

test('a Sync that is deleted takes along what it declared, dependents first, and goes when that is gone', async (t) => {
  const needs = { dependsOn: [{ name: 'a' }] };
  const platform = await startPlatform(t, { files: { ...both, 'plugins/b.yaml': pluginYaml('b', 'apps/b', needs) } });
  const { metadata } = await platform.settles();
  assert.deepEqual(metadata.finalizers, [FINALIZER]);
  const hold = { metadata: { finalizers: ['example.com/hold'] } };
  await platform.client.patch(platform.ref('ConfigMap', 'b'), hold, { type: 'merge' });

  await platform.client.delete(platform.ref('Sync', 'sync', API_VERSION));
  await platform.says(/^removing/);
  await platform.pluginSays('b', /held by finalizers example\.com\/hold/);
  assert.ok(await platform.exists('a'));
  await platform.client.patch(platform.ref('ConfigMap', 'b'), { metadata: { finalizers: null } }, { type: 'merge' });
  await platform.isGone('Sync', 'sync', API_VERSION);
  for (const name of ['a', 'b']) {
    assert.equal(await platform.exists(name), false);
    assert.equal(await platform.plugin(name), undefined);
  }
});

test('a Sync that is deleted with pruning off leaves Plugins and objects; a Plugin deleted later takes its own along', async (t) => {
  const platform = await startPlatform(t, { files: both, spec: { prune: { enabled: false } } });
  await platform.settles();
  const uids = [await platform.uid('a'), await platform.uid('b')];

  await platform.client.delete(platform.ref('Sync', 'sync', API_VERSION));
  await platform.isGone('Sync', 'sync', API_VERSION);
  const plugin = await platform.plugin('a');
  assert.equal(plugin?.metadata.labels?.[LABEL.sync], undefined);
  assert.equal(plugin?.metadata.deletionTimestamp, undefined);
  await platform.restart();
  assert.deepEqual([await platform.uid('a'), await platform.uid('b')], uids);

  await removePlugin(platform, 'a');
  await platform.isGone('Plugin', 'a', API_VERSION);
  assert.equal(await platform.exists('a'), false);
  assert.equal(await platform.uid('b'), uids[1]);
});

test('a suspended plugin loses nothing that moves to it, and nothing is removed before it is known', async (t) => {
  const platform = await startPlatform(t, {
    files: { ...both, 'apps/a/moves.yaml': configMap('moves'), 'apps/a/goes.yaml': configMap('goes') },
  });
  await platform.settles();
  const uid = await platform.uid('moves');

  await platform.push({
    'plugins/b.yaml': pluginYaml('b', 'apps/b', { suspend: true }),
    'apps/a/moves.yaml': null,
    'apps/a/goes.yaml': null,
    'apps/b/moves.yaml': configMap('moves'),
  });
  await platform.isGone('ConfigMap', 'goes');
  assert.equal(await platform.uid('moves'), uid);

  await platform.push({ 'plugins/b.yaml': pluginYaml('b', 'apps/b') });
  await platform.settles();
  assert.equal(await platform.uid('moves'), uid);
  assert.equal((await platform.get('ConfigMap', 'moves'))?.metadata.labels?.[LABEL.plugin], 'b');
});

test('an object of a kind that came with the same commit is watched from its first moment: deleted by hand, it is back', async (t) => {
  const widgets = widgetKind(t);
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/crd.yaml': widgets.definition(),
      'apps/a/one.yaml': widgets.file('one'),
    },
  });
  await platform.settles();
  const ref = platform.ref('Widget', 'one', widgets.apiVersion);
  const before = (await platform.client.get(ref))?.metadata.uid;
  await platform.client.delete(ref);
  await eventually(async () => {
    const after = (await platform.client.get(ref))?.metadata.uid;
    assert.ok(after !== undefined && after !== before);
  });
  await platform.settles();
});
