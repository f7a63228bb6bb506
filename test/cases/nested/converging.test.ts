import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { startPlatform } from '../support/platform.ts';
import { ALL_IN_ONE, allInOne, apps, plugins } from './support/all-in-one.ts';

describe('an all-in-one chart', { concurrency: 3 }, () => {
  test('installs what its values ask for, follows their folders, and takes away what they no longer ask for', async (t) => {
    const files = { ...ALL_IN_ONE, ...apps('one', 'two', 'three') };
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: { ...files, 'plugins/all.yaml': allInOne(plugins('one', 'two', 'three')) },
    });
    const sync = await platform.settles();
    assert.match(sync.status?.message ?? '', /^4 /, 'nested Plugins count');
    const uid = await platform.uid('one');
    await platform.push({ 'plugins/all.yaml': allInOne(plugins('one', 'two')) });
    await platform.settles();
    await platform.isGone('ConfigMap', 'three');
    assert.equal(await platform.plugin('three'), undefined);
    await platform.push({ 'apps/one/objects.yaml': configMap('one', { a: '2' }) });
    await platform.settles();
    assert.deepEqual((await platform.get('ConfigMap', 'one'))?.data, { a: '2' });
    assert.equal(await platform.uid('one'), uid);
    await platform.restart();
    await platform.push({ 'apps/one/objects.yaml': configMap('one', { a: '3' }) });
    await platform.settles();
    assert.deepEqual((await platform.get('ConfigMap', 'one'))?.data, { a: '3' });
  });

  test('takes the global values of the Sync, and is not ready before what is nested in it is', async (t) => {
    const gate = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', condition: 'Open' };
    const values = { plugins: { one: { template: true }, two: { spec: { gates: [gate] } } } };
    const platform = await startPlatform(t, {
      prefix: 'nested',
      spec: { values: { place: 'here' } },
      files: {
        ...ALL_IN_ONE,
        ...apps('two'),
        'apps/one/objects.yaml': configMap('one', { place: '{{ .place }}' }),
        'plugins/all.yaml': allInOne(values),
        'plugins/after.yaml': pluginYaml('after', 'apps/after', { dependsOn: [{ name: 'one' }] }),
        'plugins/late.yaml': pluginYaml('late', 'apps/late', { dependsOn: [{ name: 'all' }] }),
        ...apps('after', 'late'),
      },
    });
    await platform.pluginReaches('one', 'Ready');
    assert.deepEqual((await platform.get('ConfigMap', 'one'))?.data, { place: 'here' });
    await platform.pluginReaches('after', 'Ready');
    await platform.pluginReaches('two', 'Waiting');
    await platform.pluginSays('all', /Plugin .*two: not ready yet/);
    await platform.pluginReaches('late', 'Waiting');
    await platform.reaches('Progressing');
    await platform.edit({ values: { place: 'there' } });
    await platform.push({ 'plugins/all.yaml': allInOne({ plugins: { one: { template: true }, two: {} } }) });
    await platform.settles();
    assert.deepEqual((await platform.get('ConfigMap', 'one'))?.data, { place: 'there' });
    assert.equal(await platform.exists('late'), true);
  });

  test('tells of a circle where it is, and the rest goes on', async (t) => {
    const after = (name: string) => ({ spec: { dependsOn: [{ name }] } });
    const values = { plugins: { one: after('two'), two: after('one'), three: {}, four: after('all') } };
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: { ...ALL_IN_ONE, ...apps('one', 'two', 'three', 'four'), 'plugins/all.yaml': allInOne(values) },
    });
    await platform.pluginReaches('three', 'Ready');
    await platform.pluginSays('one', /dependsOn goes in a circle: one → two → one/);
    await platform.pluginSays('two', /dependsOn goes in a circle: two → one → two/);
    await platform.pluginSays('four', /dependsOn goes in a circle: four → all → four/);
    await platform.reaches('Failed');
  });
});
