import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCondition, isTrue } from '../../src/api/index.ts';
import { configMap, getPlugin, pluginReaches, pluginYaml } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { deployment, type Scene, startScene } from './scene.ts';

describe('fields and objects of others', { concurrency: 3 }, () => {
  test('a field that somebody else set and we never did is left alone, and its owner is named; apply.force takes it', async (t) => {
    const scene = await startScene(t, { files: oneMap() });
    await applyAs(scene, 'rival', { extra: 'theirs' });
    await scene.settle(
      { 'apps/a/cm.yaml': configMap('a', { a: '2', extra: 'ours' }), 'apps/a/new.yaml': configMap('new') },
      'Failed',
    );
    const plugin = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    assert.match(
      plugin.status?.message ?? '',
      /ConfigMap .*\/a: other managers hold \.data\.extra \(held by rival\); .*spec\.apply\.force/,
    );
    assert.equal(findCondition(plugin.status?.conditions, 'Ready')?.reason, 'KubeApplyConflict');
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '1', extra: 'theirs' });
    await eventually(() => scene.get('ConfigMap', 'new'));

    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { apply: { force: true } }) });
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2', extra: 'ours' });
  });

  test('a commit takes back a field that was ours and was changed by hand, but not one beside it that never was', async (t) => {
    const scene = await startScene(t, { files: oneMap({ drift: { mode: 'report' } }) });
    await scene.client.patch(
      scene.ref('ConfigMap', 'a'),
      { data: { a: 'by hand', extra: 'theirs' } },
      { type: 'merge', fieldManager: 'rival' },
    );
    await eventually(async () =>
      assert.ok(isTrue((await getPlugin(scene.client, scene.namespace, 'a'))?.status?.conditions, 'Drifted')),
    );
    await scene.settle({ 'apps/a/cm.yaml': configMap('a', { a: '2', extra: 'ours' }) }, 'Failed');
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: 'by hand', extra: 'theirs' });
    await scene.settle({ 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2', extra: 'theirs' });
    const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.ok(!isTrue(status?.conditions, 'Drifted'));
  });

  test('when the other manager lets go of the field, the next try succeeds without a hand', async (t) => {
    const scene = await startScene(t, { files: oneMap() });
    await applyAs(scene, 'rival', { extra: 'theirs' });
    await scene.settle({ 'apps/a/cm.yaml': configMap('a', { a: '1', extra: 'ours' }) }, 'Failed');
    await applyAs(scene, 'rival', {});
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '1', extra: 'ours' });
  });

  test('an object that exists and that nobody declared is left alone and reported; adopting it is explicit', async (t) => {
    const scene = await startScene(t, { files: oneMap() });
    const there = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'found', namespace: scene.namespace },
      data: { theirs: '1', a: 'x' },
    };
    await scene.client.create(there, { fieldManager: 'somebody' });
    await scene.settle(
      { 'apps/a/found.yaml': configMap('found', { a: '1' }), 'apps/a/new.yaml': configMap('new') },
      'Failed',
    );
    const plugin = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    assert.match(
      plugin.status?.message ?? '',
      /ConfigMap .*\/found: .*it exists and no plugin declares it; .*spec\.apply\.adopt/,
    );
    assert.deepEqual((await scene.get('ConfigMap', 'found')).data, { theirs: '1', a: 'x' });
    await eventually(() => scene.get('ConfigMap', 'new'));
    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { apply: { adopt: true } }) });
    assert.deepEqual((await scene.get('ConfigMap', 'found')).data, { theirs: '1', a: '1' });
  });

  test('a field that can not be changed: the message says which and what to do, the other objects go on', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/web.yaml': pluginYaml('web', 'apps/web'),
        'apps/web/web.yaml': deployment('web', { replicas: 0 }),
        'apps/web/cm.yaml': configMap('web'),
      },
    });
    const changed = deployment('web', { replicas: 0 }).replaceAll('"app": "web"', '"app": "other"');
    await scene.settle({ 'apps/web/web.yaml': changed, 'apps/web/cm.yaml': configMap('web', { a: '2' }) }, 'Failed');
    const plugin = await pluginReaches(scene.client, scene.namespace, 'web', 'Failed');
    const message = plugin.status?.message ?? '';
    assert.match(
      message,
      /^Deployment .*\/web: spec\.selector can't be changed: field is immutable\. Delete the object/,
    );
    assert.ok(isTrue(plugin.status?.conditions, 'Stalled'));
    assert.deepEqual((await scene.get('ConfigMap', 'web')).data, { a: '2' });
    await scene.client.delete(scene.ref('Deployment', 'web'));
    await pluginReaches(scene.client, scene.namespace, 'web', 'Ready');
  });

  test('two Plugins that ask for one namespace share it, whoever was first', async (t) => {
    const shared = `shared-${Math.random().toString(36).slice(2, 10)}`;
    const namespace = { namespace: { name: shared, create: true } };
    const names = ['a', 'b', 'c'];
    const scene = await startScene(t, {
      files: Object.fromEntries(
        names.flatMap((name) => [
          [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`, namespace)],
          [`apps/${name}/cm.yaml`, configMap(name)],
        ]),
      ),
    });
    t.after(() => scene.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: shared }));
    scene.proxy.reset();
    await always(async () => {
      for (const name of names)
        assert.equal((await getPlugin(scene.client, scene.namespace, name))?.status?.phase, 'Ready');
    });
    assert.deepEqual(scene.writesTo(`namespaces/${shared}`), []);
    for (const name of names)
      assert.notEqual(
        await scene.client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: shared, name }),
        undefined,
      );
  });
});

function oneMap(spec: Record<string, unknown> = {}) {
  return { 'plugins/a.yaml': pluginYaml('a', 'apps/a', spec), 'apps/a/cm.yaml': configMap('a') };
}

async function applyAs(
  { client, namespace }: Scene,
  fieldManager: string,
  data: Record<string, string>,
): Promise<void> {
  await client.apply(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace }, data },
    { fieldManager },
  );
}
