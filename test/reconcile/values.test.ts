import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../src/api/index.ts';
import { espalier } from '../cli/support/espalier.ts';
import { configMap, getPlugin, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { deployment, type Scene, startScene } from './scene.ts';

describe('what objects are made of', { concurrency: 3 }, () => {
  test('an edit of a ConfigMap or Secret that values come from renders the add-on again', async (t) => {
    const valuesFrom = [
      { kind: 'ConfigMap', name: 'settings', key: 'values.yaml' },
      { kind: 'Secret', name: 'passwords', prefix: 'db', optional: true },
    ];
    const scene = await startScene(t, {
      files: { ...addon(), 'clusters/here/greeter.yaml': overAddon({ valuesFrom }) },
      spec: { cluster: { name: 'here' } },
      until: 'Progressing',
    });
    const { client, namespace } = scene;
    // Until its watch has told, it is only known that nothing is known.
    await eventually(async () =>
      assert.deepEqual((await pluginReaches(client, namespace, 'greeter', 'Waiting')).status?.waitingFor, [
        'valuesFrom needs the ConfigMap "settings", which does not exist. Create it, or set optional: true.',
      ]),
    );
    await client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings', namespace },
      data: { 'values.yaml': 'who: all\n' },
    });
    await greets(scene, { text: 'hello all', size: '1', password: '' });
    await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'passwords', namespace },
      stringData: { password: 'first' },
    });
    await greets(scene, { text: 'hello all', size: '1', password: 'first' });
    await client.patch(scene.ref('Secret', 'passwords'), { stringData: { password: 'second' } }, { type: 'merge' });
    await greets(scene, { text: 'hello all', size: '1', password: 'second' });
    await client.patch(
      scene.ref('ConfigMap', 'settings'),
      { data: { 'values.yaml': 'who: you\nsize: 2\n' } },
      { type: 'merge' },
    );
    await greets(scene, { text: 'hello you', size: '2', password: 'second' });
    await client.delete(scene.ref('Secret', 'passwords'));
    await greets(scene, { text: 'hello you', size: '2', password: '' });
    await client.delete(scene.ref('ConfigMap', 'settings'));
    await pluginReaches(client, namespace, 'greeter', 'Waiting');
    await greets(scene, { text: 'hello you', size: '2', password: '' });
  });

  test("values of the Sync reach every template, a Plugin's own win, and an edit of the Sync is enough", async (t) => {
    const scene = await startScene(t, {
      files: { ...addon(), 'clusters/here/greeter.yaml': overAddon({ values: { size: 3 } }) },
      spec: { cluster: { name: 'here' }, values: { who: 'the cluster', size: 9 } },
    });
    await greets(scene, { text: 'hello the cluster', size: '3', password: '' });
    await scene.client.patch(
      scene.ref('Sync', 'sync'),
      { spec: { values: { who: 'everybody' } } },
      { type: 'merge', fieldManager: 'test' },
    );
    await greets(scene, { text: 'hello everybody', size: '3', password: '' });
  });

  test('overlays by label and by name of the cluster lie over the base, the own one on top', async (t) => {
    const overlay = (values: object) => overAddon({ values });
    const scene = await startScene(t, {
      files: {
        ...addon(),
        'clusters/_tier=prod/greeter.yaml': overlay({ who: 'prod', size: 5 }),
        'clusters/_tier=test/greeter.yaml': overlay({ who: 'test' }),
        'clusters/eu/greeter.yaml': overlay({ who: 'europe' }),
        'clusters/us/greeter.yaml': overlay({ who: 'america' }),
      },
      spec: { cluster: { name: 'eu', labels: { tier: 'prod' } } },
    });
    await greets(scene, { text: 'hello europe', size: '5', password: '' });
  });

  test('objects go to the namespace of the Plugin, made where that is asked for; where it is missing the message says so', async (t) => {
    const [made, missing] = [uniqueName('made'), uniqueName('missing')];
    const scene = await startScene(t, {
      files: {
        'plugins/made.yaml': pluginYaml('made', 'apps/a', { namespace: { name: made, create: true } }),
        'plugins/missing.yaml': pluginYaml('missing', 'apps/a', { namespace: { name: missing } }),
        'apps/a/cm.yaml': configMap('a'),
      },
      until: 'Failed',
    });
    t.after(() =>
      Promise.all([made, missing].map((name) => scene.client.delete({ apiVersion: 'v1', kind: 'Namespace', name }))),
    );
    await pluginReaches(scene.client, scene.namespace, 'made', 'Ready');
    const at = (namespace: string) => scene.client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' });
    assert.equal((await at(made))?.metadata.labels?.['espalier.dev/plugin'], 'made');
    const failed = await pluginReaches(scene.client, scene.namespace, 'missing', 'Failed');
    assert.match(failed.status?.message ?? '', new RegExp(`namespaces? "${missing}" not found.*namespace\\.create`));
    await scene.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: missing } });
    await pluginReaches(scene.client, scene.namespace, 'missing', 'Ready');
  });

  test('patches change what is rendered, and images come from where the Sync says', async (t) => {
    const patches = [
      {
        target: { kind: 'Deployment', name: 'web' },
        merge: { spec: { replicas: 0 }, metadata: { annotations: { patched: 'yes' } } },
      },
    ];
    const scene = await startScene(t, {
      files: {
        'plugins/web.yaml': pluginYaml('web', 'apps/web', { patches }),
        'apps/web/web.yaml': deployment('web'),
        'apps/web/tools.yaml': configMap('tools', { tool: 'registry.example.com/tool:1', other: 'quay.io/other:1' }),
      },
      spec: {
        images: {
          rewrite: [{ from: 'registry.example.com', to: 'harbor.local/mirror' }],
          fields: [{ kind: 'ConfigMap', path: '/data/*' }],
        },
      },
    });
    const web = await scene.get('Deployment', 'web');
    assert.deepEqual(images(web), ['harbor.local/mirror/app:1', 'harbor.local/mirror/side:1']);
    assert.equal((web.spec as { replicas: number }).replicas, 0);
    assert.equal(web.metadata.annotations?.patched, 'yes');
    const tools = await scene.get('ConfigMap', 'tools');
    assert.deepEqual(tools.data, { tool: 'harbor.local/mirror/tool:1', other: 'quay.io/other:1' });
    const left = async () => (await getPlugin(scene.client, scene.namespace, 'web'))?.status?.imagesLeft;
    assert.deepEqual(await left(), ['quay.io/other:1']);
    const listed = await espalier(['images', 'list', '--sync', 'sync', '-n', scene.namespace, '-o', 'plain']);
    assert.deepEqual(
      [
        listed.code,
        listed.stdout.trim().split('\n'),
        /from elsewhere, by no rule: quay\.io\/other:1/.test(listed.stderr),
      ],
      [
        0,
        ['quay.io/other:1', 'registry.example.com/app:1', 'registry.example.com/side:1', 'registry.example.com/tool:1'],
        true,
      ],
      listed.stderr,
    );
    const rewrite = [{ from: 'registry.example.com', to: 'other.local' }];
    await scene.client.patch(
      scene.ref('Sync', 'sync'),
      { spec: { images: { rewrite, report: false } } },
      { type: 'merge', fieldManager: 'test' },
    );
    await eventually(async () =>
      assert.deepEqual(images(await scene.get('Deployment', 'web')), ['other.local/app:1', 'other.local/side:1']),
    );
    await eventually(async () => assert.equal(await left(), undefined));
  });

  test('a change in the base of a kustomization is a change of who uses it, and of nobody else', async (t) => {
    const kustomize = (name: string) => pluginYaml(name, `overlays/${name}`, { kind: 'kustomize' });
    const scene = await startScene(t, {
      files: {
        'plugins/web.yaml': kustomize('web'),
        'plugins/other.yaml': pluginYaml('other', 'apps/other'),
        'apps/other/cm.yaml': configMap('other'),
        'overlays/web/kustomization.yaml': JSON.stringify({ resources: ['../../bases/web'], namePrefix: 'my-' }),
        'bases/web/kustomization.yaml': JSON.stringify({ resources: ['cm.yaml'] }),
        'bases/web/cm.yaml': configMap('web'),
      },
    });
    assert.deepEqual((await scene.get('ConfigMap', 'my-web')).data, { a: '1' });
    const other = await scene.get('Plugin', 'other');
    const commit = await scene.settle({ 'bases/web/cm.yaml': configMap('web', { a: '2' }) });
    assert.deepEqual((await scene.get('ConfigMap', 'my-web')).data, { a: '2' });
    assert.equal((await getPlugin(scene.client, scene.namespace, 'web'))?.status?.revision?.commit, commit);
    assert.equal((await scene.get('Plugin', 'other')).metadata.resourceVersion, other.metadata.resourceVersion);
    await syncReaches(scene.client, scene.namespace, 'Ready');
  });
});

function addon(): Record<string, string> {
  return {
    'manifests/greeter/addon.yaml': JSON.stringify({
      name: 'greeter',
      parameters: { who: 'world', size: 1, db: { password: '' } },
    }),
    'manifests/greeter/cm.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: greeting}
data:
  text: hello {{ .who }}
  size: {{ .size | quote }}
  password: {{ .db.password | quote }}
`,
  };
}

/** Lies over what the folder of the add-on declares. */
function overAddon(spec: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', metadata: { name: 'greeter' }, spec });
}

async function greets(scene: Scene, data: Record<string, string>): Promise<void> {
  await eventually(async () => assert.deepEqual((await scene.get('ConfigMap', 'greeting')).data, data));
}

function images(object: KubeObject): string[] {
  const spec = object.spec as { template: { spec: { containers: { image: string }[] } } };
  return spec.template.spec.containers.map(({ image }) => image);
}
