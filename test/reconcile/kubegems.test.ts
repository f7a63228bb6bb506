import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { JsonObject, KubeObject } from '../../src/api/index.ts';
import type { KubegemsStatus } from '../../src/compat/kubegems-kind.ts';
import { getPlugin, pluginReaches } from '../support/agent.ts';
import { chart, type PackagedChart, packageChart, startChartServer } from '../support/charts.ts';
import { always, eventually } from '../support/eventually.ts';
import { untilQuiet } from '../support/httpproxy.ts';
import { type Scene, startScene } from './scene.ts';

/** A chart that shows the values it was given in a ConfigMap of its release's name. */
function showing(name: string, version: string): PackagedChart {
  const files = {
    'values.yaml': 'who: nobody\nglobal: {imageRegistry: none}\n',
    'templates/shown.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {who: {{ .Values.who | quote }}, registry: {{ .Values.global.imageRegistry | quote }}}
`,
  };
  return packageChart(chart(name, files, { version }));
}

const EXAMPLE = new URL('../../examples/kubegems/', import.meta.url);
const INGRESS = 'charts/platform/templates/ingress.yaml';

async function example(): Promise<Record<string, string>> {
  const entries = await readdir(EXAMPLE, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const root = fileURLToPath(EXAMPLE);
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [relative(root, file), await readFile(file, 'utf8')] as const)),
  );
}

const KUBEGEMS = { apiVersion: 'plugins.kubegems.io/v1beta1', kind: 'Plugin' };

test('the repository of examples/kubegems is installed without KubeGems: what its all-in-one chart renders become Plugins', async (t) => {
  const charts = await startChartServer(t, { charts: [showing('ingress', '4.1.0'), showing('monitoring', '1.2.0')] });
  const files = await example();
  const platform = (values: JsonObject): string => {
    const given = parse(files['platform.yaml'] ?? '');
    return JSON.stringify({ ...given, spec: { ...given.spec, values: { repository: charts.url, ...values } } });
  };
  const ingress = { values: { who: 'everybody' } };
  const scene = await startScene(t, { files: { ...files, 'platform.yaml': platform({ ingress }) } });
  await isData(scene, 'ingress', { who: 'everybody' });
  assert.equal(await getPlugin(scene.client, scene.namespace, 'monitoring'), undefined);

  const monitoring = { enabled: true, values: { who: 'operators' } };
  await scene.settle({ 'platform.yaml': platform({ ingress: { values: { who: 'all' } }, monitoring }) });
  await isData(scene, 'ingress', { who: 'all' });
  await isData(scene, 'monitoring', { who: 'operators' });
  const second = await pluginReaches(scene.client, scene.namespace, 'monitoring', 'Ready');
  assert.deepEqual(second.spec.dependsOn, [{ name: 'ingress' }]);

  await scene.push({ [INGRESS]: files[INGRESS]?.replace('url:', 'urls:') ?? '' });
  await eventually(async () => {
    const { status } = await pluginReaches(scene.client, scene.namespace, 'platform', 'Failed');
    assert.match(
      status?.message ?? '',
      /^the KubeGems Plugin ingress in platform\/templates\/ingress\.yaml can't be used: spec\.urls is not a field; did you mean url\?/,
    );
  });
  await isData(scene, 'ingress', { who: 'all' });
});

test('KubeGems Plugins in the cluster', async (t) => {
  const charts = await startChartServer(t, { charts: [showing('web', '1.0.0')] });
  const scene = await startScene(t, { files: { 'README.md': 'nothing here' }, spec: { compat: { kubegems: true } } });
  const { client, namespace } = scene;
  const helm = { kind: 'helm', url: charts.url, chart: 'web' };

  await t.test('one is installed with the values of its ConfigMap and its own, and says so', async () => {
    await client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'all', namespace },
      data: { imageRegistry: 'harbor.local', clusterName: 'a' },
    });
    const valuesFrom = [{ kind: 'ConfigMap', name: 'all', prefix: 'global.' }];
    await create(scene, 'one', { ...helm, values: { who: 'first' }, valuesFrom });
    const object = await phase(scene, 'one', 'Installed');
    await isData(scene, 'one', { who: 'first', registry: 'harbor.local' });
    const { message, version, namespace: where, resources, creationTimestamp, upgradeTimestamp } = statusOf(object);
    assert.equal(version, '1.0.0');
    assert.equal(where, namespace);
    assert.match(message ?? '', /./);
    assert.deepEqual(
      resources?.map(({ kind, name }) => `${kind} ${name}`),
      ['ConfigMap one'],
    );
    assert.ok(creationTimestamp !== undefined && upgradeTimestamp !== undefined);
    const plugin = await getPlugin(client, namespace, 'one');
    assert.equal(plugin?.metadata.labels?.['espalier.dev/compat'], 'kubegems');
    assert.equal(plugin?.metadata.annotations?.['espalier.dev/facts-of'], `${namespace}/sync`);
  });

  await t.test('an edit of the ConfigMap and one of the values are applied', async () => {
    await client.patch(scene.ref('ConfigMap', 'all'), { data: { imageRegistry: 'other.local' } }, { type: 'merge' });
    await isData(scene, 'one', { who: 'first', registry: 'other.local' });
    await edit(scene, 'one', { values: { who: 'second', global: { imageRegistry: 'own.local' } } });
    await isData(scene, 'one', { who: 'second', registry: 'own.local' });
    await phase(scene, 'one', 'Installed');
  });

  await t.test('the Plugin is put back where somebody changed or deleted it', async () => {
    await client.patch(
      scene.ref('Plugin', 'one'),
      { spec: { values: { who: 'nobody asked' } } },
      { type: 'merge', fieldManager: 'hand' },
    );
    await eventually(async () => assert.equal((await getPlugin(client, namespace, 'one'))?.spec.values?.who, 'second'));
    const uid = (await getPlugin(client, namespace, 'one'))?.metadata.uid;
    await client.delete(scene.ref('Plugin', 'one'));
    await eventually(async () =>
      assert.notEqual((await pluginReaches(client, namespace, 'one', 'Ready')).metadata.uid, uid),
    );
    await isData(scene, 'one', { who: 'second' });
  });

  await t.test('a dependency is waited for', async () => {
    await create(scene, 'two', { ...helm, dependencies: [{ kind: 'Plugin', name: 'base' }] });
    const waiting = await phase(scene, 'two', 'Waiting');
    assert.match(statusOf(waiting).message ?? '', /base/);
    await create(scene, 'base', helm);
    await phase(scene, 'two', 'Installed');
  });

  await t.test('what is wrong is said, and what is installed stays', async () => {
    await edit(scene, 'one', { path: 'charts' });
    assert.match(
      statusOf(await phase(scene, 'one', 'Failed')).message ?? '',
      /^spec\.path is given, but a Helm repository has no folders/,
    );
    await isData(scene, 'one', { who: 'second' });
    await edit(scene, 'one', { path: null });
    await phase(scene, 'one', 'Installed');

    const source = { chart: { repository: charts.url, name: 'web' } };
    await client.create({
      ...scene.ref('Plugin', 'mine'),
      metadata: { name: 'mine', namespace },
      spec: { kind: 'helm', source },
    } as unknown as KubeObject);
    await create(scene, 'mine', { ...helm, values: { who: 'intruder' } });
    assert.match(
      statusOf(await phase(scene, 'mine', 'Failed')).message ?? '',
      /exists already and was not made from this object/,
    );
    await isData(scene, 'mine', { who: 'nobody' });
  });

  await t.test('disabled, it is taken away and stays as an object', async () => {
    await edit(scene, 'two', { disabled: true });
    await phase(scene, 'two', 'Disabled');
    await isGone(scene, 'two');
  });

  await t.test('nothing is written when nothing changes', async () => {
    await phase(scene, 'one', 'Installed');
    await untilQuiet(scene.proxy);
    scene.proxy.reset();
    await client.patch(gem(scene, 'one'), { metadata: { annotations: { note: 'looked at' } } }, { type: 'merge' });
    await always(() =>
      assert.deepEqual(
        scene.proxy.requests
          .filter(({ mutation, path }) => mutation > 0 && !path.includes('leases'))
          .map(({ method, path }) => `${method} ${path}`),
        [],
      ),
    );
  });

  await t.test('deleted, it uninstalls, and goes when that is done', async () => {
    await client.delete(gem(scene, 'one'));
    await eventually(async () => assert.equal(await client.get(gem(scene, 'one')), undefined));
    assert.equal(await getPlugin(client, namespace, 'one'), undefined);
    assert.equal(await client.get(scene.ref('ConfigMap', 'one')), undefined);
  });

  await t.test('switched off, nothing is stuck and what is installed stays', async () => {
    await client.patch(
      scene.ref('Sync', 'sync'),
      { spec: { compat: { kubegems: false } } },
      { type: 'merge', fieldManager: 'test' },
    );
    await eventually(async () =>
      assert.deepEqual((await client.get(gem(scene, 'base')))?.metadata.finalizers ?? [], []),
    );
    await client.delete(gem(scene, 'base'));
    await eventually(async () => assert.equal(await client.get(gem(scene, 'base')), undefined));
    await isData(scene, 'base', { who: 'nobody' });

    await switchOn(scene);
    await create(scene, 'last', helm);
    await phase(scene, 'last', 'Installed');
    await scene.restartAgent(async () => {
      await client.patch(
        scene.ref('Sync', 'sync'),
        { spec: { compat: { kubegems: false } } },
        { type: 'merge', fieldManager: 'test' },
      );
      await client.delete(gem(scene, 'last'));
    });
    await eventually(async () => assert.equal(await client.get(gem(scene, 'last')), undefined));
    await isData(scene, 'last', { who: 'nobody' });
  });
});

async function switchOn({ client, ref }: Scene): Promise<void> {
  await client.patch(
    ref('Sync', 'sync'),
    { spec: { compat: { kubegems: true } } },
    { type: 'merge', fieldManager: 'test' },
  );
}

function gem({ namespace }: Scene, name: string) {
  return { ...KUBEGEMS, namespace, name };
}

/** The kind is served a moment after the Sync asks for it. */
async function create({ client, namespace }: Scene, name: string, spec: JsonObject): Promise<void> {
  await eventually(() => client.create({ ...KUBEGEMS, metadata: { name, namespace }, spec }));
}

async function edit(scene: Scene, name: string, spec: JsonObject): Promise<void> {
  await scene.client.patch(gem(scene, name), { spec }, { type: 'merge', fieldManager: 'test' });
}

function statusOf(object: KubeObject): KubegemsStatus {
  return (object.status ?? {}) as KubegemsStatus;
}

async function phase(scene: Scene, name: string, wanted: string): Promise<KubeObject> {
  return await eventually(
    async () => {
      const object = await scene.client.get(gem(scene, name));
      const { phase: is, message, observedGeneration } = statusOf(object ?? ({} as KubeObject));
      assert.equal(is, wanted, `${name} is ${is}: ${message}`);
      assert.equal(observedGeneration, object?.metadata.generation);
      return object as KubeObject;
    },
    { timeoutMs: 30_000 },
  );
}

async function isData(scene: Scene, name: string, data: Record<string, string>): Promise<void> {
  await eventually(
    async () => {
      const found = (await scene.get('ConfigMap', name)).data as Record<string, string>;
      for (const [key, value] of Object.entries(data)) assert.equal(found[key], value);
    },
    { timeoutMs: 30_000 },
  );
}

async function isGone(scene: Scene, name: string): Promise<void> {
  await eventually(async () => assert.equal(await scene.client.get(scene.ref('ConfigMap', name)), undefined));
}
