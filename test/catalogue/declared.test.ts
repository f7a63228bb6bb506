import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { configMap, pluginYaml } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { extensionYaml, instanceYaml, startCatalogue, uniqueName, version } from './scene.ts';

const templated = (name: string) => configMap(name, { size: '{{ .size }}', class: '{{ .class }}' });
const folder = (path: string, template = false) => ({ git: { path, ...(template ? { template } : {}) } });

test('an instance in Git becomes a Plugin of the version that fits, and follows its range, its parameters and the catalogue', async (t) => {
  const demo = uniqueName('demo');
  const parameters = {
    type: 'object',
    properties: { size: { type: 'integer', minimum: 1, default: 3 }, class: { type: 'string', default: 'std' } },
  };
  const versions = [
    { app: 'v1.0.0', kubernetes: '>=1.20', source: folder('charts/v1', true) },
    { app: 'v2.0.0', kubernetes: '>=1.30', source: folder('charts/v2', true), from: '>=1' },
    { app: 'v9.0.0', kubernetes: '>=1.99', source: folder('charts/v2', true) },
  ];
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/demo.yaml': extensionYaml(demo, { displayName: 'Demo', parameters, versions }),
      'instances/mine.yaml': instanceYaml('mine', { extension: demo, version: '~1', parameters: { size: 5 } }),
      'charts/v1/cm.yaml': templated('one'),
      'charts/v2/cm.yaml': templated('two'),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/other/cm.yaml': configMap('other'),
    },
    spec: { values: { size: 9, class: 'from the Sync' } },
  });
  await scene.settles();
  const first = await scene.instanceSays('mine', /v1\.0\.0 is installed and healthy/);
  assert.deepEqual((await scene.get('ConfigMap', 'one'))?.data, { size: '5', class: 'std' });
  assert.equal(first.status?.version, 'v1.0.0');
  assert.deepEqual(first.status?.available, ['v2.0.0']);
  assert.match(first.status?.why ?? '', /v1\.0\.0 is the newest in "~1" that fits Kubernetes v1\.\d+/);
  assert.deepEqual(first.status?.plugin, { name: 'mine', namespace: scene.namespace });
  await eventually(async () => {
    const { status } = (await scene.extension(demo)) ?? {};
    assert.deepEqual([status?.fits, status?.instances], [['v2.0.0', 'v1.0.0'], 1]);
  });

  await scene.push({ 'instances/mine.yaml': instanceYaml('mine', { extension: demo, version: 'auto' }) });
  await scene.settles();
  await scene.instanceSays('mine', /v2\.0\.0 is installed and healthy/);
  await scene.isGone('ConfigMap', 'one');
  assert.deepEqual((await scene.get('ConfigMap', 'two'))?.data, { size: '3', class: 'std' });

  const wrong = { extension: demo, parameters: { size: 'huge' } };
  await scene.push({ 'instances/mine.yaml': instanceYaml('mine', wrong) });
  const failed = await scene.reaches('Failed');
  const { file, line, message } = failed.status?.faults?.[0] ?? {};
  assert.deepEqual([file, line], ['instances/mine.yaml', 1]);
  assert.equal(message, 'parameter size is "huge", expected a whole number of at least 1');
  assert.deepEqual((await scene.get('ConfigMap', 'two'))?.data, { size: '3', class: 'std' });

  // Taking the entry away uninstalls nothing; taking the instance away does.
  await scene.push({
    'instances/mine.yaml': instanceYaml('mine', { extension: demo }),
    'catalogue/demo.yaml': null,
  });
  await scene.says(/v2\.0\.0 stays: the catalogue no longer has an extension/);
  await scene.instanceSays('mine', /stays/, 'False');
  await always(async () => assert.ok(await scene.exists('two')), { forMs: 300 });
  await scene.push({ 'instances/mine.yaml': null });
  await scene.isGone('ConfigMap', 'two');
  await scene.isGone('ExtensionInstance', 'mine', API_VERSION);
});

test('default and system extensions are on every cluster that their labels match, and stay when the catalogue drops them', async (t) => {
  const [everywhere, core, elsewhere] = [uniqueName('default'), uniqueName('system'), uniqueName('other')];
  const files = {
    'catalogue/a.yaml': extensionYaml(everywhere, {
      class: 'default',
      when: { cluster: { tier: 'prod' } },
      versions: [version('v1', 'apps/a')],
    }),
    'catalogue/b.yaml': extensionYaml(core, { class: 'system', versions: [version('v1', 'apps/b')] }),
    'catalogue/c.yaml': extensionYaml(elsewhere, {
      class: 'default',
      when: { cluster: { tier: 'test' } },
      versions: [version('v1', 'apps/c')],
    }),
    'apps/a/cm.yaml': configMap('a'),
    'apps/b/cm.yaml': configMap('b'),
    'apps/c/cm.yaml': configMap('c'),
  };
  const scene = await startCatalogue(t, { files, spec: { cluster: { labels: { tier: 'prod' } } } });
  await scene.settles();
  assert.ok((await scene.exists('a')) && (await scene.exists('b')));
  assert.equal(await scene.exists('c'), false);
  const system = await scene.instance(core);
  assert.equal(system?.metadata.labels?.['espalier.dev/class'], 'system');
  assert.equal((await scene.plugin(core))?.metadata.labels?.['espalier.dev/class'], 'system');

  // Deleted by hand, it comes back over what it had installed, which never went.
  const before = await scene.uid('b');
  const uid = (await scene.plugin(core))?.metadata.uid;
  await scene.client.delete(scene.ref('Plugin', core, API_VERSION));
  await scene.client.delete(scene.ref('ExtensionInstance', core, API_VERSION));
  await eventually(async () => {
    const found = await scene.plugin(core);
    assert.ok(found !== undefined && found.metadata.uid !== uid && found.status?.phase === 'Ready');
  });
  await scene.instanceSays(core, /v1 is installed and healthy/);
  assert.equal(await scene.uid('b'), before);
  await scene.client.delete(scene.ref('ExtensionInstance', core, API_VERSION));
  await scene.instanceSays(core, /v1 is installed and healthy/);

  await scene.push({ 'catalogue/a.yaml': null, 'catalogue/b.yaml': null, 'apps/README.md': 'less' });
  await scene.says(/is a system extension, and stays/);
  await always(
    async () => {
      assert.ok((await scene.exists('a')) && (await scene.exists('b')));
      assert.ok((await scene.instance(everywhere)) !== undefined);
    },
    { forMs: 300 },
  );

  // For another cluster it is no longer meant.
  await scene.push({ 'catalogue/a.yaml': files['catalogue/a.yaml'], 'catalogue/b.yaml': files['catalogue/b.yaml'] });
  await scene.settles();
  await scene.edit({ cluster: { labels: { tier: 'test' } } });
  await scene.isGone('ConfigMap', 'a');
  await eventually(async () => assert.ok(await scene.exists('c')));
  assert.ok(await scene.exists('b'));
});

test('an upgrade waits for approval of that very version, goes step by step where the way needs it, and stays out of closed windows', async (t) => {
  const demo = uniqueName('demo');
  const entry = (...versions: object[]) => extensionYaml(demo, { versions });
  const one = version('v1.0.0', 'apps/one');
  const two = version('v2.0.0', 'apps/two', { from: '>=1' });
  const three = version('v3.0.0', 'apps/three', { from: '>=2' });
  const spec = { extension: demo, upgrade: { approval: 'required' } };
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/demo.yaml': entry(one),
      'instances/mine.yaml': instanceYaml('mine', spec),
      'apps/one/cm.yaml': configMap('one'),
      'apps/two/cm.yaml': configMap('two'),
      'apps/three/cm.yaml': configMap('three'),
    },
  });
  await scene.settles();
  await scene.push({ 'catalogue/demo.yaml': entry(one, two, three) });
  await scene.settles();
  const waiting = await scene.instanceSays(
    'mine',
    /v1\.0\.0 is installed and healthy; v2\.0\.0 waits: somebody approves it/,
  );
  assert.equal(waiting.status?.next?.version, 'v2.0.0');
  await scene.approveVersion('mine', 'v3.0.0');
  await always(async () => assert.ok(await scene.exists('one')), { forMs: 300 });
  await scene.approveVersion('mine', 'v2.0.0');
  await scene.instanceSays('mine', /v2\.0\.0 is installed and healthy; v3\.0\.0 waits/);
  await scene.isGone('ConfigMap', 'one');

  await scene.push({ 'instances/mine.yaml': instanceYaml('mine', { extension: demo }) });
  await scene.instanceSays('mine', /v3\.0\.0 is installed and healthy/);
  await scene.isGone('ConfigMap', 'two');

  const inWindow = (cron: string) => ({ extension: demo, upgrade: { window: { cron, for: '2m' } } });
  await scene.push({
    'catalogue/demo.yaml': entry(one, two, three, version('v4.0.0', 'apps/one')),
    'instances/mine.yaml': instanceYaml('mine', inWindow('0 0 29 2 *')),
  });
  await scene.instanceSays('mine', /v3\.0\.0 is installed and healthy; v4\.0\.0 waits: its window opens at 2028-02-29/);
  assert.equal(await scene.exists('one'), false);
  await scene.push({ 'instances/mine.yaml': instanceYaml('mine', inWindow('* * * * *')) });
  await scene.instanceSays('mine', /v4\.0\.0 is installed and healthy/);
  assert.ok(await scene.exists('one'));
});

test('an instance that others need does not go: the commit that drops it is refused with their names', async (t) => {
  const [base, top] = [uniqueName('base'), uniqueName('top')];
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/base.yaml': extensionYaml(base, { versions: [version('v1', 'apps/base')] }),
      'catalogue/top.yaml': extensionYaml(top, { dependsOn: [base], versions: [version('v1', 'apps/top')] }),
      'instances/base.yaml': instanceYaml('base', { extension: base }),
      'instances/top.yaml': instanceYaml('top', { extension: top }),
      'apps/base/cm.yaml': configMap('base'),
      'apps/top/cm.yaml': configMap('top'),
    },
  });
  await scene.settles();
  await scene.push({ 'instances/base.yaml': null });
  const refused = await scene.reaches('Failed');
  const [fault] = refused.status?.faults ?? [];
  assert.deepEqual([fault?.file, fault?.object], ['instances/top.yaml', 'ExtensionInstance top']);
  assert.match(fault?.message ?? '', new RegExp(`${top} needs extension ${base}, of which nothing is installed`));
  await always(async () => assert.ok(await scene.exists('base')), { forMs: 500 });
  assert.equal((await scene.plugin('base'))?.metadata.deletionTimestamp, undefined);

  await scene.push({ 'instances/base.yaml': instanceYaml('base', { extension: base }) });
  await scene.settles();
});
