import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { testKubeconfig } from '../../support/cluster.ts';
import { always } from '../../support/eventually.ts';
import { commitFiles } from '../../support/gitserver.ts';
import { type HttpProxy, type SeenRequest, startHttpProxy } from '../../support/httpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';
import { type Platform, type PlatformOptions, startPlatform } from '../support/platform.ts';
import { widgetKind } from '../support/widgets.ts';

const NAMES = ['a', 'b', 'c'];
const files = {
  ...Object.fromEntries(NAMES.map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)])),
  ...Object.fromEntries(NAMES.map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
};

const uidsOf = (platform: Platform) => Promise.all(NAMES.map((name) => platform.uid(name)));

async function behindProxy(
  t: TestContext,
  options: PlatformOptions,
): Promise<{ platform: Platform; proxy: HttpProxy }> {
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  t.after(() => proxy.close());
  const kubeconfig = join(await tempDir(t), 'kubeconfig');
  await writeFile(kubeconfig, proxy.kubeconfig);
  return { platform: await startPlatform(t, { ...options, agent: { kubeconfig } }), proxy };
}

const isDiscovery = ({ path }: SeenRequest) => /^\/(apis?)(\/[^/]+(\/[^/]+)?)?\/?(\?|$)/.test(path);
const isList = ({ method, path }: SeenRequest, what: RegExp) =>
  method === 'GET' && what.test(path) && !/[?&]watch=/.test(path);

test('D20: discovery fails in every way: nothing is deleted or forgotten, and it goes on when discovery is back', async (t) => {
  const widgets = widgetKind(t);
  const { platform, proxy } = await behindProxy(t, {
    files: {
      ...files,
      'apps/a/crd.yaml': widgets.definition(),
      'plugins/d.yaml': pluginYaml('d', 'apps/d'),
      'apps/d/cm.yaml': configMap('d'),
      'apps/d/one.yaml': widgets.file('one'),
      'apps/d/two.yaml': widgets.file('two'),
    },
  });
  await platform.settles();
  const widget = async (name: string) => (await platform.get('Widget', name, widgets.apiVersion))?.metadata.uid;
  const [one, two] = [await widget('one'), await widget('two')];

  for (const fault of [{ status: 503 }, 'truncate', { status: 200, body: '{"kind":"Status"}' }] as const) {
    const holds = () =>
      always(
        async () => {
          assert.deepEqual([await widget('one'), await widget('two')], [one, two]);
          const inventory = (await platform.plugin('d'))?.status?.inventory ?? [];
          assert.equal(inventory.filter((entry) => entry.kind === 'Widget').length, 2);
        },
        { forMs: 600 },
      );
    proxy.before = (request) => (isDiscovery(request) ? fault : undefined);
    const restarted = platform.restart();
    await commitFiles(platform.repository, { 'apps/d/two.yaml': null, 'plugins/a.yaml': null });
    await holds();
    await commitFiles(platform.repository, {
      'apps/d/two.yaml': widgets.file('two'),
      'plugins/a.yaml': files['plugins/a.yaml'] ?? '',
    });
    proxy.before = undefined;
    await restarted;
    await platform.push({ 'README.md': JSON.stringify(fault) });
    await platform.settles();
    assert.deepEqual([await widget('one'), await widget('two')], [one, two]);
  }

  await platform.restart();
  proxy.before = (request) => (isDiscovery(request) ? { status: 503 } : undefined);
  await platform.push({ 'apps/d/two.yaml': null });
  await always(async () => assert.equal(await widget('one'), one), { forMs: 600 });
  proxy.before = undefined;
  await platform.settles();
  await platform.isGone('Widget', 'two', widgets.apiVersion);
});

test('D20: lists that break off, fail or are empty pages with more to come: nothing is taken for absent', async (t) => {
  const { platform, proxy } = await behindProxy(t, { files });
  await platform.settles();
  const uids = await uidsOf(platform);
  const cut = {
    kind: 'PluginList',
    apiVersion: 'espalier.dev/v1alpha1',
    metadata: { continue: 'more', resourceVersion: '1' },
  };
  const more = JSON.stringify({ ...cut, items: [] });
  for (const fault of [
    'truncate',
    { status: 500 },
    { status: 200, body: more },
    { status: 200, body: '{}' },
  ] as const) {
    proxy.before = (request) => (isList(request, /\/plugins\b/) && !/continue=/.test(request.path) ? fault : undefined);
    if (typeof fault === 'object' && 'body' in fault && fault.body === more)
      proxy.before = (request) => (isList(request, /\/plugins\b/) ? fault : undefined);
    const restarted = platform.restart();
    await commitFiles(platform.repository, { 'plugins/a.yaml': null });
    await always(async () => assert.deepEqual(await uidsOf(platform), uids), { forMs: 500 });
    await commitFiles(platform.repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'README.md': String(fault) });
    proxy.before = undefined;
    await restarted;
    await platform.push({ 'README.md': JSON.stringify(fault) });
    await platform.settles();
    assert.deepEqual(await uidsOf(platform), uids);
  }
});

test('D20: objects of a CRD cannot be counted: the CRD stays until they can, and then because they exist', async (t) => {
  const widgets = widgetKind(t);
  const { platform, proxy } = await behindProxy(t, {
    files: {
      ...files,
      'plugins/w.yaml': pluginYaml('w', 'apps/w', { deletion: { crds: 'delete' } }),
      'apps/w/crd.yaml': widgets.definition(),
    },
  });
  await platform.settles();
  await widgets.make('by-hand', platform.namespace);
  proxy.before = (request) => (isList(request, /\/widgets(\?|$)/) ? { status: 500 } : undefined);

  await platform.push({ 'plugins/w.yaml': null });
  await platform.pluginSays('w', /could not remove: list Widget: injected 500/);
  proxy.before = undefined;
  const sync = await platform.settles();
  assert.deepEqual(sync.status?.kept, [
    `CustomResourceDefinition ${widgets.crd}: it goes when its objects are gone; 1 object of it exists`,
  ]);
  assert.notEqual(await platform.get('Widget', 'by-hand', widgets.apiVersion), undefined);
});

test('D20: what is to be removed cannot be read: nothing goes and nothing is forgotten, the status says why, and it goes on', async (t) => {
  const { platform, proxy } = await behindProxy(t, { files: { ...files, 'apps/b/more.yaml': configMap('more') } });
  await platform.settles();
  proxy.before = (request) =>
    request.method === 'GET' && /\/configmaps\/(a|more)\b/.test(request.path) ? { status: 500 } : undefined;

  await platform.push({ 'plugins/a.yaml': null, 'apps/b/more.yaml': null });
  await platform.pluginSays('a', /could not remove: get ConfigMap .*\/a: injected 500/);
  await platform.pluginSays('b', /get ConfigMap .*\/more: injected 500/);
  for (const name of ['a', 'more']) assert.ok(await platform.exists(name));

  proxy.before = (request) =>
    request.method === 'DELETE' && /\/configmaps\/(a|more)\b/.test(request.path) ? { status: 500 } : undefined;
  await platform.pluginSays('a', /could not remove: delete ConfigMap .*\/a: injected 500/);
  await platform.pluginSays('b', /still removing ConfigMap .*\/more \(delete ConfigMap .*injected 500/);

  proxy.before = undefined;
  await platform.settles();
  for (const name of ['a', 'more']) assert.equal(await platform.exists(name), false);
});
