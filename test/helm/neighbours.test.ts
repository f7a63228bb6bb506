import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { type KubeObject, refOf } from '../../src/api/index.ts';
import { chart, packageChart } from '../support/charts.ts';
import { testClient } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { gadgetDefinition } from './charts/crds.ts';
import { configMap } from './charts/fixture.ts';
import { hookLines } from './charts/hooks.ts';
import { openRevision } from './support/open-revision.ts';
import { dataOf, type HelmScene, serve, startHelmScene } from './support/scene.ts';

const ONE = { 'values.yaml': 'text: one\n', 'templates/one.yaml': configMap('one', ['text: {{ .Values.text }}']) };

describe('a release beside others', { concurrency: 2 }, () => {
  test('H2: a pending revision that somebody else made is never unlocked; it is reported, and the agent goes on when it has ended', async (t) => {
    const scene = await startHelmScene(t);
    const { platform, helm } = scene;
    await scene.install(chart('app', ONE));
    const person = await openRevision(platform.client, platform.namespace, 'app', 2);
    await scene.declare(chart('app', ONE), { values: { text: 'two' } });
    await platform.pluginSays('app', /revision 2 of release app is pending-upgrade: somebody else/);
    await delay(1_500);
    assert.equal((await platform.client.get(refOf(person)))?.metadata.resourceVersion, person.metadata.resourceVersion);
    assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'one');
    assert.deepEqual(await scene.history('app'), ['1 deployed', '2 pending-upgrade']);

    // It ends as a person's upgrade does that was taken back.
    await platform.client.delete(refOf(person));
    await platform.settles();
    assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'two');
    assert.match(await helm('status', 'app'), /STATUS: deployed/);
    assert.deepEqual(await scene.history('app'), ['1 superseded', '2 deployed']);
  });

  test('a release that a person made is left alone, and taken over when that is asked for', async (t) => {
    const scene = await startHelmScene(t);
    const { platform, helm, charts } = scene;
    charts.add(packageChart(chart('app', ONE)));
    await helm('install', 'app', 'app', '--repo', charts.url, '--set', 'text=by-hand');
    const before = await scene.records();
    await scene.declare(chart('app', ONE), { values: { text: 'two' } });
    await platform.pluginSays('app', /release app exists .*no Plugin made it.*adopt/);
    assert.deepEqual(await scene.records(), before);
    assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'by-hand');
    const uid = await platform.uid('one');
    await scene.install(chart('app', ONE), { values: { text: 'two' }, apply: { adopt: true } });
    assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'two');
    assert.equal(await platform.uid('one'), uid);
    assert.deepEqual(await scene.history('app'), ['1 superseded', '2 deployed']);
  });

  test('helm rollback, upgrade and uninstall by a person work on a release that the agent made', async (t) => {
    const scene = await startHelmScene(t);
    const { platform, helm, charts } = scene;
    await scene.install(chart('app', ONE));
    await scene.install(chart('app', ONE), { values: { text: 'two' } });
    await suspend(scene, true);
    await helm('rollback', 'app', '1');
    assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'one');
    await helm('upgrade', 'app', 'app', '--repo', charts.url, '--set', 'text=person');
    assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'person');
    assert.deepEqual(await scene.history('app'), ['1 superseded', '2 superseded', '3 superseded', '4 deployed']);
    await suspend(scene, false);
    await eventually(async () => assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'two'), {
      timeoutMs: 20_000,
    });
    await platform.pluginReaches('app', 'Ready');
    await suspend(scene, true);
    await helm('uninstall', 'app');
    assert.equal(await platform.get('ConfigMap', 'one'), undefined);
    await suspend(scene, false);
    await eventually(async () => assert.equal(dataOf(await platform.get('ConfigMap', 'one')).text, 'two'), {
      timeoutMs: 20_000,
    });
  });

  test('H8: an object that moves to another release in one commit survives the upgrade and the removal of the old one', async (t) => {
    const scene = await startHelmScene(t);
    const { platform, helm, charts } = scene;
    const moving = { 'templates/moving.yaml': configMap('moving', ['text: {{ .Release.Name }}']) };
    await scene.install(chart('old', { ...ONE, ...moving }));
    const uid = await platform.uid('moving');
    const old = serve(charts, chart('old', ONE, { version: '2.0.0' }));
    // One commit: between two, nobody declares the object, and it would be right to remove it.
    await scene.declare(chart('new', moving), {}, { 'plugins/old.yaml': old.plugin });
    await platform.settles();
    await platform.pluginReaches('new', 'Ready');
    assert.equal(await platform.uid('moving'), uid);
    const live = await platform.get('ConfigMap', 'moving');
    assert.equal(dataOf(live).text, 'new');
    assert.equal(live?.metadata.annotations?.['meta.helm.sh/release-name'], 'new');
    await platform.push({ 'plugins/old.yaml': null });
    await platform.settles();
    await platform.isGone('ConfigMap', 'one');
    assert.equal(await platform.uid('moving'), uid);
    assert.deepEqual(
      (await helm.json<{ name: string }[]>('list')).map(({ name }) => name),
      ['new'],
    );
  });

  test('H9: a newer CRD is live and an older chart is installed: the kind is not downgraded, and that is reported', async (t) => {
    const group = `${uniqueName('g')}.example.com`;
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `gadgets.${group}` };
    t.after(() => testClient().delete(crd));
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const files = (fields: string[]) => ({
      'crds/gadgets.yaml': gadgetDefinition(group, fields),
      'templates/one.yaml': `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {size: small}\n`,
    });
    const fieldsOf = async (): Promise<string[]> => {
      const live = (await platform.client.get(crd)) as KubeObject & { spec: { versions: [{ schema: Schema }] } };
      return Object.keys(live.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties).sort();
    };
    await scene.install(chart('gadgets', files(['size']), { version: '1.0.0' }));
    assert.deepEqual(await fieldsOf(), ['size']);
    await scene.install(chart('gadgets', files(['size', 'colour']), { version: '2.0.0' }));
    assert.deepEqual(await fieldsOf(), ['colour', 'size'], 'Helm would have left it');
    await scene.install(chart('gadgets', files(['size']), { version: '1.0.0' }));
    assert.deepEqual(await fieldsOf(), ['colour', 'size']);
    const plugin = await platform.pluginReaches('gadgets', 'Ready');
    assert.match(plugin.status?.message ?? '', /not downgraded: CustomResourceDefinition gadgets\./);
    // Nor is it taken for something that the chart has no more.
    const without = { 'crds/gadgets.yaml': gadgetDefinition(group, ['size']) };
    await scene.install(chart('gadgets', without, { version: '1.0.1' }), { deletion: { crds: 'delete' } });
    await platform.isGone('Gadget', 'one', `${group}/v1`);
    assert.deepEqual(await fieldsOf(), ['colour', 'size']);
    await platform.push({ 'plugins/gadgets.yaml': null });
    await platform.settles();
  });

  test('H9: so does a newer CRD that somebody else has put there, and status says so also after a restart', async (t) => {
    const group = `${uniqueName('g')}.example.com`;
    const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `gadgets.${group}` };
    t.after(() => testClient().delete(crd));
    const [theirs] = parseAllDocuments(gadgetDefinition(group, ['size', 'colour']));
    await testClient().apply(theirs?.toJS() as KubeObject, { fieldManager: 'somebody' });
    const { platform, ...scene } = await startHelmScene(t);
    await scene.install(chart('gadgets', { ...ONE, 'crds/gadgets.yaml': gadgetDefinition(group, ['size']) }));
    const told = /^1 object healthy; newer in the cluster, and not downgraded: CustomResourceDefinition gadgets\./;
    const before = await platform.pluginSays('gadgets', told);
    await platform.restart();
    await platform.push({ 'README.md': 'another commit' });
    await platform.settles();
    const after = await platform.pluginSays('gadgets', told);
    assert.equal(after.metadata.uid, before.metadata.uid);
    await scene.install(chart('gadgets', ONE, { version: '1.0.1' }));
    await platform.pluginSays('gadgets', /^1 object healthy$/);
  });

  test('a hook of a kind without a namespace runs before the release goes', async (t) => {
    const name = uniqueName('hook');
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name };
    t.after(() => testClient().delete(role));
    const scene = await startHelmScene(t);
    const hook = [`apiVersion: ${role.apiVersion}`, 'kind: ClusterRole', 'metadata:', `  name: ${name}`];
    const lines = hookLines({ on: 'pre-delete' }).map((line) => `  ${line}`);
    await scene.install(chart('app', { ...ONE, 'templates/hook.yaml': [...hook, ...lines, ''].join('\n') }));
    assert.equal(await testClient().get(role), undefined);
    await scene.platform.push({ 'plugins/app.yaml': null });
    await scene.platform.settles();
    assert.ok(await testClient().get(role), 'it ran');
    assert.deepEqual(await scene.records(), []);
  });

  for (const [crds, expected] of [
    ['create', ['size']],
    ['skip', undefined],
  ] as const) {
    test(`upgrade.crds ${crds}: a kind ${crds === 'create' ? 'is made where it is missing and never changed' : 'is left alone'}`, async (t) => {
      const group = `${uniqueName('g')}.example.com`;
      const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `gadgets.${group}` };
      t.after(() => testClient().delete(crd));
      const scene = await startHelmScene(t);
      const files = (fields: string[]) => ({ ...ONE, 'crds/gadgets.yaml': gadgetDefinition(group, fields) });
      await scene.install(chart('gadgets', files(['size'])), { upgrade: { crds } });
      await scene.install(chart('gadgets', files(['size', 'colour']), { version: '2.0.0' }), { upgrade: { crds } });
      const live = (await scene.platform.client.get(crd)) as
        | (KubeObject & { spec: { versions: [{ schema: Schema }] } })
        | undefined;
      const fields = live?.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
      assert.deepEqual(fields === undefined ? undefined : Object.keys(fields), expected);
    });
  }
});

interface Schema {
  openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } };
}

async function suspend({ platform }: HelmScene, value: boolean): Promise<void> {
  const plugin = await platform.plugin('app');
  assert.ok(plugin);
  await platform.client.patch(
    refOf(plugin),
    { spec: { suspend: value } },
    { type: 'merge', fieldManager: 'espalier-cli' },
  );
  if (value) await platform.pluginReaches('app', 'Suspended');
}
