import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { startPlatform } from '../support/platform.ts';

test('D1: a plugin that renders no object any more is held with a way to consent, and goes on by spec.allowEmpty', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
  });
  await platform.settles();
  const uid = await platform.uid('a');

  await platform.push({ 'apps/a/cm.yaml': '# nothing to see here\n' });
  const held = await platform.pluginReaches('a', 'Held');
  assert.match(held.status?.message ?? '', /renders no object any more.*spec\.allowEmpty: true/);
  const sync = await platform.reaches('Held');
  assert.match(sync.status?.message ?? '', /1 held: a/);
  assert.equal(await platform.uid('a'), uid);

  await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { allowEmpty: true }) });
  await platform.settles();
  await platform.isGone('ConfigMap', 'a');
});

test('D1: a plugin whose folder is gone keeps its objects, and the fault names the file', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
  });
  await platform.settles();
  const uid = await platform.uid('a');

  await platform.push({ 'apps/a/cm.yaml': null });
  const sync = await platform.reaches('Failed');
  assert.match(sync.status?.message ?? '', /plugins\/a\.yaml:\d+:\d+: .*"apps\/a" does not exist/);
  assert.equal(await platform.uid('a'), uid);
});

test('D1: a commit that declares no plugin at all is held as a whole', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
  });
  await platform.settles();
  const uid = await platform.uid('a');

  const commit = await platform.push({ 'plugins/a.yaml': null });
  const sync = await platform.reaches('Held');
  assert.deepEqual(sync.status?.held?.objects, [`Plugin ${platform.namespace}/a`]);
  assert.match(sync.status?.message ?? '', new RegExp(`approve: espalier approve sync -n .* --commit ${commit}`));
  assert.equal(await platform.uid('a'), uid);
});
