import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { eventually } from '../../support/eventually.ts';
import { FINALIZER, operatorDeployment, startOperator } from '../support/operator.ts';
import { type Platform, startPlatform } from '../support/platform.ts';
import { startProxied } from '../support/proxied.ts';
import { type Widgets, widgetKind } from '../support/widgets.ts';

const HOLD = 'example.com/hold';

async function setFinalizers({ client, ref }: Platform, name: string, finalizers: string[] | null): Promise<void> {
  await client.patch(ref('ConfigMap', name), { metadata: { finalizers } }, { type: 'merge', fieldManager: 'somebody' });
}

test('D16: an object of a removed plugin hangs on a foreign finalizer: reported, the others go on, and it ends when the finalizer does', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'plugins/b.yaml': pluginYaml('b', 'apps/b'),
      'plugins/c.yaml': pluginYaml('c', 'apps/c'),
      'plugins/d.yaml': pluginYaml('d', 'apps/d'),
      'apps/a/cm.yaml': configMap('hangs'),
      'apps/a/more.yaml': configMap('a'),
      'apps/b/cm.yaml': configMap('b'),
      'apps/c/cm.yaml': configMap('c'),
      'apps/d/cm.yaml': configMap('d'),
    },
  });
  await platform.settles();
  await setFinalizers(platform, 'hangs', [HOLD]);

  await platform.push({
    'plugins/a.yaml': null,
    'plugins/b.yaml': null,
    'apps/c/cm.yaml': configMap('c', { a: '2' }),
  });
  const plugin = await platform.pluginSays('a', /ConfigMap .*\/hangs \(held by finalizers example\.com\/hold\)/);
  assert.equal(plugin.status?.phase, 'Removing');
  for (const name of ['a', 'b']) await platform.isGone('ConfigMap', name);
  await eventually(async () => assert.deepEqual((await platform.get('ConfigMap', 'c'))?.data, { a: '2' }));
  await platform.reaches('Progressing');
  await platform.push({ 'apps/d/cm.yaml': configMap('d', { a: '2' }) });
  await platform.says(/1 waiting: a/);
  await eventually(async () => assert.deepEqual((await platform.get('ConfigMap', 'd'))?.data, { a: '2' }));

  await setFinalizers(platform, 'hangs', null);
  await platform.settles();
  assert.equal(await platform.plugin('a'), undefined);
});

test('D16: an object that left its plugin hangs: the plugin is ready and says so, takes new commits, and forgets it when it is gone', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/cm.yaml': configMap('hangs'),
      'apps/a/more.yaml': configMap('a'),
    },
  });
  await platform.settles();
  await setFinalizers(platform, 'hangs', [HOLD]);

  await platform.push({ 'apps/a/cm.yaml': null });
  await platform.settles();
  await platform.pluginSays('a', /still removing ConfigMap .*\/hangs \(held by finalizers example\.com\/hold\)/);
  await platform.push({ 'apps/a/more.yaml': configMap('a', { a: '2' }) });
  await platform.settles();
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: '2' });

  await setFinalizers(platform, 'hangs', null);
  await platform.pluginSays('a', /^1 object healthy$/);
  assert.deepEqual(
    (await platform.plugin('a'))?.status?.inventory?.map((entry) => entry.name),
    ['a'],
  );
});

test('D16: it is heard late that such an object is on its way out: the Sync is ready then all the same', async (t) => {
  const { proxy, kubeconfig } = await startProxied(t);
  const late = Promise.withResolvers<void>();
  proxy.before = async ({ path }) => {
    if (/\/configmaps\?.*watch=/.test(path)) await late.promise;
    return undefined;
  };
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/cm.yaml': configMap('hangs'),
      'apps/a/more.yaml': configMap('a'),
    },
    agent: { kubeconfig },
  });
  await platform.settles();
  await setFinalizers(platform, 'hangs', [HOLD]);
  await platform.push({ 'apps/a/cm.yaml': null });
  await platform.pluginSays('a', /still removing ConfigMap .*\/hangs \(held by finalizers example\.com\/hold\)/);
  await platform.reaches('Progressing');
  late.resolve();
  await platform.settles();
  await setFinalizers(platform, 'hangs', null);
});

const held = { finalizers: [FINALIZER] };
const remove = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, null]));
const deletion = { crds: 'delete' };

/** How the operator, the definition and the custom objects may be spread over Plugins. */
const ARRANGEMENTS: Record<string, (widgets: Widgets) => Record<string, string>> = {
  'all in one plugin': (widgets) => ({
    'plugins/all.yaml': pluginYaml('all', 'apps/all', { deletion }),
    'apps/all/crd.yaml': widgets.definition(),
    'apps/all/operator.yaml': operatorDeployment(),
    'apps/all/one.yaml': widgets.file('one', held),
    'apps/all/two.yaml': widgets.file('two', held),
  }),
  'two plugins, the one that depends on the other': (widgets) => ({
    'plugins/operator.yaml': pluginYaml('operator', 'apps/operator', { deletion }),
    'plugins/widgets.yaml': pluginYaml('widgets', 'apps/widgets', { dependsOn: [{ name: 'operator' }] }),
    'apps/operator/crd.yaml': widgets.definition(),
    'apps/operator/operator.yaml': operatorDeployment(),
    'apps/widgets/one.yaml': widgets.file('one', held),
    'apps/widgets/two.yaml': widgets.file('two', held),
  }),
  'two plugins that say nothing of each other': (widgets) => ({
    'plugins/a-operator.yaml': pluginYaml('a-operator', 'apps/operator', { deletion }),
    'plugins/widgets.yaml': pluginYaml('widgets', 'apps/widgets'),
    'apps/operator/crd.yaml': widgets.definition(),
    'apps/operator/operator.yaml': operatorDeployment(),
    'apps/widgets/one.yaml': widgets.file('one', held),
    'apps/widgets/two.yaml': widgets.file('two', held),
  }),
};

for (const [arrangement, filesOf] of Object.entries(ARRANGEMENTS)) {
  test(`D19: an operator and its custom objects go in one commit, ${arrangement}: objects first, then operator, then CRD`, async (t) => {
    const widgets = widgetKind(t);
    const platform = await startPlatform(t, {
      files: {
        ...filesOf(widgets),
        ...Object.fromEntries(
          ['x', 'y', 'z'].map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)]),
        ),
        ...Object.fromEntries(['x', 'y', 'z'].map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
      },
    });
    await platform.settles();
    const operator = startOperator(t, platform, widgets);

    await platform.push(remove(...Object.keys(filesOf(widgets))));
    const sync = await platform.settles();
    // The operator hears of it by a watch of its own.
    await eventually(() => assert.equal(operator.story.at(-1), 'Deployment gone'));
    assert.equal(operator.story.filter((one) => /released$/.test(one)).length, 2);
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: widgets.crd };
    await eventually(async () => assert.equal(await platform.client.get(crd), undefined));
    assert.equal(sync.status?.kept, undefined);
    assert.equal(sync.status?.plugins?.total, 3);
  });
}

test('D19: parts of an operator and its custom object leave the folders of plugins that stay: the same order', async (t) => {
  const widgets = widgetKind(t);
  const platform = await startPlatform(t, {
    files: {
      'plugins/a-operator.yaml': pluginYaml('a-operator', 'apps/operator', { deletion }),
      'plugins/widgets.yaml': pluginYaml('widgets', 'apps/widgets'),
      'apps/operator/crd.yaml': widgets.definition(),
      'apps/operator/operator.yaml': operatorDeployment(),
      'apps/operator/cm.yaml': configMap('operator'),
      'apps/widgets/one.yaml': widgets.file('one', held),
      'apps/widgets/cm.yaml': configMap('widgets'),
    },
  });
  await platform.settles();
  const operator = startOperator(t, platform, widgets);

  await platform.push(remove('apps/operator/crd.yaml', 'apps/operator/operator.yaml', 'apps/widgets/one.yaml'));
  await platform.settles();
  await platform.isGone('Deployment', 'operator', 'apps/v1');
  await eventually(() =>
    assert.deepEqual(operator.story, ['Widget one asked to go', 'Widget one released', 'Deployment gone']),
  );
  const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: widgets.crd };
  await eventually(async () => assert.equal(await platform.client.get(crd), undefined), { timeoutMs: 20_000 });
});

test('D19: two operators that use each other go in one commit, and nothing hangs', async (t) => {
  const [first, second] = [widgetKind(t), widgetKind(t)];
  const platform = await startPlatform(t, {
    files: {
      'plugins/first.yaml': pluginYaml('first', 'apps/first', { deletion }),
      'plugins/second.yaml': pluginYaml('second', 'apps/second', { deletion }),
      'plugins/z.yaml': pluginYaml('z', 'apps/z'),
      'plugins/y.yaml': pluginYaml('y', 'apps/z2'),
      'apps/first/crd.yaml': first.definition(),
      'apps/first/cm.yaml': configMap('first'),
      'apps/first/user.yaml': second.file('by-first'),
      'apps/second/crd.yaml': second.definition(),
      'apps/second/cm.yaml': configMap('second'),
      'apps/second/user.yaml': first.file('by-second'),
      'apps/z/cm.yaml': configMap('z'),
      'apps/z2/cm.yaml': configMap('y'),
    },
  });
  await platform.settles();
  await platform.push(remove('plugins/first.yaml', 'plugins/second.yaml'));
  const sync = await platform.settles();
  assert.equal(sync.status?.plugins?.total, 2);
  for (const name of ['first', 'second']) await platform.isGone('ConfigMap', name);
});

test('D19: without its operator a custom object hangs: reported, and everything else of the commit goes on', async (t) => {
  const widgets = widgetKind(t);
  const platform = await startPlatform(t, {
    files: {
      'plugins/operator.yaml': pluginYaml('operator', 'apps/operator', { deletion }),
      'plugins/widgets.yaml': pluginYaml('widgets', 'apps/widgets', { dependsOn: [{ name: 'operator' }] }),
      'plugins/plain.yaml': pluginYaml('plain', 'apps/plain'),
      'plugins/z.yaml': pluginYaml('z', 'apps/z'),
      'apps/operator/crd.yaml': widgets.definition(),
      'apps/operator/operator.yaml': operatorDeployment(),
      'apps/widgets/one.yaml': widgets.file('one', held),
      'apps/plain/cm.yaml': configMap('plain'),
      'apps/z/cm.yaml': configMap('z'),
    },
    spec: { prune: { hold: { percent: 100 } } },
  });
  await platform.settles();
  await platform.push(remove('plugins/operator.yaml', 'plugins/widgets.yaml', 'plugins/plain.yaml'));
  await platform.isGone('ConfigMap', 'plain');
  await platform.pluginSays('widgets', new RegExp(`Widget .*/one \\(held by finalizers ${FINALIZER}\\)`));
  await platform.pluginSays('operator', /waits until .*\/widgets is removed/);
  assert.notEqual(await platform.get('Deployment', 'operator', 'apps/v1'), undefined);

  startOperator(t, platform, widgets);
  await platform.settles();
  assert.equal(await platform.get('Deployment', 'operator', 'apps/v1'), undefined);
});
