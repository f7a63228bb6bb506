import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FINALIZER } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { always, eventually } from '../../support/eventually.ts';
import { startPlatform } from '../support/platform.ts';
import { ALL_IN_ONE, allInOne, apps, plugins } from './support/all-in-one.ts';

const FIVE = ['one', 'two', 'three', 'four', 'five'];

describe('what is nested', { concurrency: 3 }, () => {
  test('D7: values that switch off 60 % of it are held until approved for that commit, and then it goes dependents first', async (t) => {
    const [, , three, four, five] = FIVE;
    const values = { plugins: Object.fromEntries(FIVE.map((name) => [name, {} as Record<string, unknown>])) };
    values.plugins.four = { spec: { dependsOn: [{ name: three }] } };
    values.plugins.five = { spec: { dependsOn: [{ name: four }] } };
    const held = { ...fieldsOf(configMap(five ?? '')), metadata: { name: five, finalizers: ['example.com/hold'] } };
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: {
        ...ALL_IN_ONE,
        ...apps(...FIVE),
        'apps/five/objects.yaml': JSON.stringify(held),
        'plugins/all.yaml': allInOne(values),
      },
    });
    const { commit: first } = platform;
    await platform.settles();
    const commit = await platform.push({ 'plugins/all.yaml': allInOne(plugins('one', 'two')) });
    await platform.pluginReaches('all', 'Held');
    await platform.pluginSays('all', new RegExp(`3 of 5 nested plugins would be removed.*approve it: .*${commit}`));
    await platform.approve(first);
    await always(async () => assert.equal(await platform.exists('three'), true), { forMs: 1_000 });
    await platform.approve(commit);
    await platform.pluginSays('four', /waits until .*five is removed/);
    assert.equal(await platform.exists('four'), true);
    // Before it is asked to go its finalizer would be put back: it is declared.
    await eventually(async () =>
      assert.notEqual((await platform.get('ConfigMap', 'five'))?.metadata.deletionTimestamp, undefined),
    );
    const body = { metadata: { finalizers: null } };
    await platform.client.patch(platform.ref('ConfigMap', 'five'), body, { type: 'merge' });
    for (const name of ['five', 'four', 'three']) await platform.isGone('ConfigMap', name);
    await platform.settles();
  });

  test('D7: a Plugin that goes counts with all that is nested in it', async (t) => {
    const others = ['six', 'seven', 'eight', 'nine'];
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: {
        ...ALL_IN_ONE,
        ...apps(...FIVE, ...others),
        'plugins/all.yaml': allInOne(plugins(...FIVE)),
        ...Object.fromEntries(others.map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)])),
      },
    });
    await platform.settles();
    const commit = await platform.push({ 'plugins/all.yaml': null });
    await platform.says(/6 of 10 plugins would be removed/);
    assert.equal(await platform.exists('one'), true);
    await platform.approve(commit);
    await platform.settles();
    for (const name of FIVE) assert.equal(await platform.exists(name), false);
    assert.equal(await platform.exists('six'), true);
  });

  test('D2: objects and Plugins that move in and out of a chart stay what they are', async (t) => {
    const both = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [JSON.parse(configMap('a')), JSON.parse(configMap('b'))],
    });
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: {
        ...ALL_IN_ONE,
        ...apps('keep'),
        'apps/one/objects.yaml': both,
        'apps/free/objects.yaml': configMap('c'),
        'apps/web/objects.yaml': configMap('web'),
        'plugins/all.yaml': allInOne(plugins('keep', 'one')),
        'plugins/free.yaml': pluginYaml('free', 'apps/free'),
        'plugins/web.yaml': pluginYaml('web', 'apps/web'),
      },
    });
    const { client } = platform;
    await platform.settles();
    const names = ['a', 'b', 'c', 'web'];
    const uids = await Promise.all(names.map(platform.uid));
    const plugin = (await platform.plugin('web'))?.metadata.uid;

    // `b` leaves the chart, `c` goes into it, and Plugin web is rendered where it was declared.
    await platform.push({
      'apps/one/objects.yaml': `${configMap('a')}\n---\n${configMap('c')}`,
      'apps/free/objects.yaml': configMap('b'),
      'plugins/all.yaml': allInOne(plugins('keep', 'one', 'web')),
      'plugins/web.yaml': null,
    });
    await platform.settles();
    assert.deepEqual(await Promise.all(names.map(platform.uid)), uids);
    assert.equal((await platform.plugin('web'))?.metadata.uid, plugin);

    // And back: the chart lets go of Plugin web, which the repository declares.
    await platform.push({
      'plugins/all.yaml': allInOne(plugins('keep', 'one')),
      'plugins/web.yaml': pluginYaml('web', 'apps/web'),
    });
    await platform.settles();
    assert.deepEqual(await Promise.all(names.map(platform.uid)), uids);
    const web = await client.get(platform.ref('Plugin', 'web', 'espalier.dev/v1alpha1'));
    assert.equal(web?.metadata.uid, plugin);
    assert.ok(web?.metadata.finalizers?.includes(FINALIZER));
  });

  test('nothing of the Sync goes while a nested Plugin does not render', async (t) => {
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: {
        ...ALL_IN_ONE,
        ...apps('one', 'two'),
        'apps/free/objects.yaml': `${configMap('free')}\n---\n${configMap('more')}`,
        'plugins/all.yaml': allInOne({ plugins: { one: { template: true }, two: {} } }),
        'plugins/free.yaml': pluginYaml('free', 'apps/free'),
      },
    });
    await platform.settles();
    const broken = configMap('one', { a: '{{ .missing.deep }}' });
    await platform.push({ 'apps/one/objects.yaml': broken, 'apps/free/objects.yaml': configMap('free') });
    await platform.pluginReaches('one', 'Failed');
    await platform.pluginSays('free', /not removed \(waits for Plugin .*one to render\)/);
    assert.equal(await platform.exists('more'), true);
    await platform.push({ 'apps/one/objects.yaml': configMap('more') });
    await platform.settles();
    assert.equal(await platform.exists('more'), true);
    assert.equal(await platform.exists('one'), false);
  });
});

function fieldsOf(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}
