import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LABEL } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { always, eventually } from '../../support/eventually.ts';
import { startPlatform } from '../support/platform.ts';
import { startProxied } from '../support/proxied.ts';

const BROKEN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n';

test('D2: a folder is renamed: nothing goes before the new one renders, and what both have keeps its UID', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/old'),
      'apps/old/both.yaml': configMap('both'),
      'apps/old/left.yaml': configMap('left'),
    },
  });
  await platform.settles();
  const [both, left] = [await platform.uid('both'), await platform.uid('left')];

  await platform.push({
    'plugins/a.yaml': pluginYaml('a', 'apps/new'),
    'apps/old/both.yaml': null,
    'apps/old/left.yaml': null,
    'apps/new/both.yaml': configMap('both'),
    'apps/new/more.yaml': BROKEN,
  });
  await platform.pluginReaches('a', 'Failed');
  assert.equal(await platform.uid('both'), both);
  assert.equal(await platform.uid('left'), left);

  await platform.push({ 'apps/new/more.yaml': configMap('more') });
  await platform.settles();
  assert.equal(await platform.uid('both'), both);
  assert.ok(await platform.exists('more'));
  assert.equal(await platform.exists('left'), false);
});

test('D2: a plugin is renamed: its objects keep their UID and belong to the new one', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/one.yaml': pluginYaml('one', 'apps/a'),
      'plugins/other.yaml': pluginYaml('other', 'apps/b'),
      'apps/a/cm.yaml': configMap('a'),
      'apps/b/cm.yaml': configMap('b'),
    },
  });
  await platform.settles();
  const uid = await platform.uid('a');

  await platform.push({ 'plugins/one.yaml': pluginYaml('uno', 'apps/a') });
  const sync = await platform.settles();
  assert.equal(await platform.uid('a'), uid);
  assert.equal((await platform.get('ConfigMap', 'a'))?.metadata.labels?.[LABEL.plugin], 'uno');
  assert.equal(await platform.plugin('one'), undefined);
  assert.equal(sync.status?.plugins?.total, 2);
  const inventory = (await platform.plugin('uno'))?.status?.inventory;
  assert.deepEqual(
    inventory?.map((entry) => entry.uid),
    [uid],
  );
});

test('D2: plugins that are only renamed are not removed, so that they are not held either', async (t) => {
  const names = ['a', 'b', 'c'];
  const files = (suffix: string) =>
    Object.fromEntries(names.map((name) => [`plugins/${name}.yaml`, pluginYaml(`${name}${suffix}`, `apps/${name}`)]));
  const apps = Object.fromEntries(names.map((name) => [`apps/${name}/cm.yaml`, configMap(name)]));
  const platform = await startPlatform(t, {
    files: { ...files(''), ...apps },
    spec: { prune: { hold: { percent: 10, count: 1 } } },
  });
  await platform.settles();
  const uids = await Promise.all(names.map((name) => platform.uid(name)));

  await platform.push(files('-renamed'));
  const sync = await platform.settles();
  assert.equal(sync.status?.plugins?.total, 3);
  assert.deepEqual(await Promise.all(names.map((name) => platform.uid(name))), uids);
});

test('D2: an object that moves from one plugin to another in one commit keeps its UID', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/from.yaml': pluginYaml('from', 'apps/from'),
      'plugins/to.yaml': pluginYaml('to', 'apps/to'),
      'apps/from/stays.yaml': configMap('stays'),
      'apps/from/moves.yaml': configMap('moves'),
      'apps/to/own.yaml': configMap('own'),
    },
  });
  await platform.settles();
  const uid = await platform.uid('moves');

  await platform.push({ 'apps/from/moves.yaml': null, 'apps/to/moves.yaml': configMap('moves', { a: '2' }) });
  await platform.settles();
  const live = await platform.get('ConfigMap', 'moves');
  assert.equal(live?.metadata.uid, uid);
  assert.equal(live?.metadata.labels?.[LABEL.plugin], 'to');
  assert.deepEqual(live?.data, { a: '2' });
  const from = await platform.plugin('from');
  assert.deepEqual(
    from?.status?.inventory?.map((entry) => entry.name),
    ['stays'],
  );

  await platform.push({ 'plugins/from.yaml': null });
  await platform.settles();
  assert.equal(await platform.uid('moves'), uid, 'the old owner took nothing along that it gave away');
});

test('D2: an object that moves to a plugin that cannot be rendered stays until it can, and keeps its UID', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/from.yaml': pluginYaml('from', 'apps/from'),
      'plugins/to.yaml': pluginYaml('to', 'apps/to'),
      'apps/from/stays.yaml': configMap('stays'),
      'apps/from/moves.yaml': configMap('moves'),
      'apps/from/goes.yaml': configMap('goes'),
      'apps/to/own.yaml': configMap('own'),
    },
  });
  await platform.settles();
  const uid = await platform.uid('moves');

  await platform.push({
    'apps/from/stays.yaml': configMap('stays', { a: '2' }),
    'apps/from/moves.yaml': null,
    'apps/from/goes.yaml': null,
    'apps/to/moves.yaml': configMap('moves'),
    'apps/to/broken.yaml': BROKEN,
  });
  await platform.pluginReaches('to', 'Failed');
  await platform.pluginSays('from', /no longer declared.*(goes|moves)/);
  await always(async () => assert.equal(await platform.uid('moves'), uid), { forMs: 500 });
  assert.ok(await platform.exists('goes'), 'nothing is deleted before the whole revision is rendered');

  await platform.push({ 'apps/to/broken.yaml': null });
  await platform.settles();
  await platform.isGone('ConfigMap', 'goes');
  const live = await platform.get('ConfigMap', 'moves');
  assert.equal(live?.metadata.uid, uid);
  assert.equal(live?.metadata.labels?.[LABEL.plugin], 'to');
});

test('an object that moves to a Plugin that can not take it yet, and is then declared nowhere, is removed', async (t) => {
  const never = { gates: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', condition: 'Open' }] };
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'plugins/b.yaml': pluginYaml('b', 'apps/b', never),
      'apps/a/stays.yaml': configMap('stays'),
      'apps/a/moves.yaml': configMap('moves'),
      'apps/b/other.yaml': configMap('other'),
    },
  });
  await platform.pluginReaches('a', 'Ready');
  const uid = await platform.uid('moves');
  await platform.push({ 'apps/a/moves.yaml': null, 'apps/b/moves.yaml': configMap('moves') });
  await platform.pluginSays('a', /declared elsewhere, and not taken over yet: ConfigMap \S+\/moves/);
  assert.equal(await platform.uid('moves'), uid);
  await platform.push({ 'apps/b/moves.yaml': null });
  await platform.isGone('ConfigMap', 'moves');
  assert.ok(await platform.exists('stays'));
});

test('what carries the labels of a Plugin that is gone is taken back, though nothing else of it differs', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
  });
  await platform.settles();
  const live = await platform.get('ConfigMap', 'a');
  const { namespace, name, labels, annotations } = live?.metadata ?? { name: 'a' };
  // A write of ours that was under way when another Plugin took the object over.
  const late = { namespace, name, annotations, labels: { ...labels, [LABEL.plugin]: 'gone' } };
  const object = JSON.parse(JSON.stringify({ ...JSON.parse(configMap('a')), metadata: late }));
  await platform.client.apply(object, { fieldManager: 'espalier', force: true });
  await eventually(async () =>
    assert.equal((await platform.get('ConfigMap', 'a'))?.metadata.labels?.[LABEL.plugin], 'a'),
  );
  await platform.settles();
});

test('an object that somebody deletes is on record without its UID before it is made again', async (t) => {
  const { proxy, kubeconfig } = await startProxied(t);
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
    agent: { kubeconfig },
  });
  await platform.settles();
  const uid = await platform.uid('a');
  const recorded: (string | undefined)[] = [];
  proxy.before = async ({ path, mutation }) => {
    if (mutation > 0 && path.includes('/configmaps/a?'))
      recorded.push((await platform.plugin('a'))?.status?.inventory?.find((entry) => entry.name === 'a')?.uid);
    return undefined;
  };
  await platform.client.delete(platform.ref('ConfigMap', 'a'));
  await eventually(async () => assert.notEqual(await platform.uid('a'), uid));
  assert.deepEqual(recorded, [undefined], 'who removes it now finds it by its labels');
  await eventually(async () => {
    const entry = (await platform.plugin('a'))?.status?.inventory?.find((one) => one.name === 'a');
    assert.equal(entry?.uid, await platform.uid('a'));
  });
});
