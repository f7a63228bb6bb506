import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { setRef } from '../../support/gitserver.ts';
import { startPlatform, yaml } from '../support/platform.ts';

test('D3: one of twenty files is broken: the nineteen others converge, nothing of the broken one changes, and the status names file and line', async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  const plugins = Object.fromEntries(names.map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)]));
  const apps = (value: string) =>
    Object.fromEntries(names.map((name) => [`apps/${name}/cm.yaml`, configMap(name, { a: value })]));
  const platform = await startPlatform(t, { files: { ...plugins, ...apps('1') } });
  await platform.settles();
  const before = await platform.get('ConfigMap', 'p7');

  const broken = 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata:\n  name: p7\n  oops: [\n';
  await platform.push({ ...apps('2'), 'plugins/p7.yaml': broken });
  const sync = await platform.reaches('Failed');
  assert.match(sync.status?.message ?? '', /^plugins\/p7\.yaml:[56]/);
  assert.equal(sync.status?.faults?.length, 1);
  assert.equal(sync.status?.faults?.[0]?.file, 'plugins/p7.yaml');
  for (const name of names.filter((one) => one !== 'p7')) {
    await platform.pluginReaches(name, 'Ready');
    assert.deepEqual((await platform.get('ConfigMap', name))?.data, { a: '2' });
  }
  const after = await platform.get('ConfigMap', 'p7');
  assert.equal(after?.metadata.resourceVersion, before?.metadata.resourceVersion, 'nothing of the broken one changed');

  await platform.push({ 'plugins/p7.yaml': pluginYaml('p7', 'apps/p7') });
  await platform.settles();
  assert.deepEqual((await platform.get('ConfigMap', 'p7'))?.data, { a: '2' });
});

test('a change that was refused half way is taken back in Git: everything is as before, and what had been about to leave stays', async (t) => {
  const fixed = (a: string) =>
    yaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fixed' }, immutable: true, data: { a } });
  const before = {
    'apps/a/left.yaml': configMap('left'),
    'apps/a/changed.yaml': configMap('changed', { a: '1' }),
    'apps/a/fixed.yaml': fixed('1'),
  };
  const platform = await startPlatform(t, { files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...before } });
  await platform.settles();
  const uid = await platform.uid('left');

  await platform.push({
    'apps/a/left.yaml': null,
    'apps/a/changed.yaml': configMap('changed', { a: '2' }),
    'apps/a/fixed.yaml': fixed('2'),
  });
  await platform.pluginReaches('a', 'Failed');
  assert.deepEqual((await platform.get('ConfigMap', 'changed'))?.data, { a: '2' });
  assert.equal(await platform.uid('left'), uid, 'nothing goes before everything is applied');

  await platform.push(before);
  await platform.settles();
  assert.deepEqual((await platform.get('ConfigMap', 'changed'))?.data, { a: '1' });
  assert.equal(await platform.uid('left'), uid);
});

test('D3: a removal in the same commit as a broken file waits until the file is corrected', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'plugins/b.yaml': pluginYaml('b', 'apps/b'),
      'plugins/c.yaml': pluginYaml('c', 'apps/c'),
      'apps/a/cm.yaml': configMap('a'),
      'apps/b/cm.yaml': configMap('b'),
      'apps/c/one.yaml': configMap('one'),
      'apps/c/two.yaml': configMap('two'),
    },
  });
  await platform.settles();

  await platform.push({ 'plugins/a.yaml': null, 'plugins/b.yaml': 'kind: [', 'apps/c/two.yaml': null });
  await platform.reaches('Failed');
  await platform.pluginSays('c', /no longer declared.*two/);
  assert.equal((await platform.plugin('a'))?.metadata.deletionTimestamp, undefined);
  assert.ok(await platform.exists('a'));
  assert.ok(await platform.exists('two'));

  await platform.push({ 'plugins/b.yaml': pluginYaml('b', 'apps/b') });
  await platform.settles();
  await platform.isGone('ConfigMap', 'a');
  await platform.isGone('ConfigMap', 'two');
});

test('D3: a broken overlay freezes the one object that it is about', async (t) => {
  const plugins = {
    'plugins/a.yaml': pluginYaml('a', 'apps/a'),
    'plugins/b.yaml': pluginYaml('b', 'apps/b'),
  };
  const overlay = { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name: 'a' }, spec: { timeout: '7m' } };
  const platform = await startPlatform(t, {
    files: {
      ...plugins,
      'apps/a/cm.yaml': configMap('a'),
      'apps/b/cm.yaml': configMap('b'),
      'clusters/prod/a.yaml': yaml(overlay),
    },
    spec: { cluster: { name: 'prod' } },
  });
  await platform.settles();
  assert.equal((await platform.plugin('a'))?.spec.timeout, '7m');
  const before = await platform.get('ConfigMap', 'a');

  await platform.push({
    'clusters/prod/a.yaml': `apiVersion: ${API_VERSION}\nkind: Plugin\nmetadata: {name: a}\nspec: {timeout: 7m\n`,
    'apps/a/cm.yaml': configMap('a', { a: '2' }),
    'apps/b/cm.yaml': configMap('b', { a: '2' }),
  });
  const sync = await platform.reaches('Failed');
  assert.match(sync.status?.message ?? '', /^clusters\/prod\/a\.yaml:\d/);
  await platform.pluginReaches('b', 'Ready');
  assert.deepEqual((await platform.get('ConfigMap', 'b'))?.data, { a: '2' });
  assert.equal((await platform.get('ConfigMap', 'a'))?.metadata.resourceVersion, before?.metadata.resourceVersion);
  assert.equal((await platform.plugin('a'))?.spec.timeout, '7m', 'not the base without its overlay either');
});

test('D5: the branch is deleted: the last good state is held, the status says so, and it goes on when the branch is back', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
  });
  const { commit } = platform;
  await platform.settles();
  const uid = await platform.uid('a');

  await setRef(platform.repository, 'refs/heads/other', commit);
  await setRef(platform.repository, 'refs/heads/main', null);
  platform.look();
  const sync = await platform.reaches('Failed');
  const ready = sync.status?.conditions?.find((one) => one.type === 'Ready');
  assert.equal(ready?.reason, 'GitRefMissing');
  assert.match(sync.status?.message ?? '', /no branch "?main.*other.*; the state of [0-9a-f]{10} is held/);
  assert.equal(await platform.uid('a'), uid);

  await platform.restart();
  await platform.reaches('Failed');
  assert.equal(await platform.uid('a'), uid, 'an agent that starts now deletes nothing either');

  await setRef(platform.repository, 'refs/heads/main', commit);
  platform.look();
  await platform.settles();
  assert.equal(await platform.uid('a'), uid);
});
