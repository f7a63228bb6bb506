import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ANNOTATION, findCondition, isTrue, timestamp } from '../../src/api/index.ts';
import { configMap, getPlugin, getSync, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { type Scene, startScene } from './scene.ts';

describe('whether and when', { concurrency: 3 }, () => {
  test('when.kubernetes and when.cluster decide what is on this cluster; what no longer matches is removed', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/new.yaml': pluginYaml('new', 'apps/new', { when: { kubernetes: '>=1.30' } }),
        'plugins/old.yaml': pluginYaml('old', 'apps/old', { when: { kubernetes: '<1.30' } }),
        'plugins/prod.yaml': pluginYaml('prod', 'apps/prod', { when: { cluster: { tier: 'prod' } } }),
        'plugins/test.yaml': pluginYaml('test', 'apps/test', { when: { cluster: { tier: 'test' } } }),
        ...maps('new', 'old', 'prod', 'test'),
      },
      spec: { cluster: { labels: { tier: 'prod' } } },
    });
    const there = async () => await Promise.all(['new', 'old', 'prod', 'test'].map((name) => isThere(scene, name)));
    assert.deepEqual(await there(), [true, false, true, false]);
    const old = await pluginReaches(scene.client, scene.namespace, 'old', 'Ready');
    assert.match(old.status?.message ?? '', /^not installed: it is for Kubernetes <1\.30; this cluster runs v1\./);
    assert.equal(findCondition(old.status?.conditions, 'Ready')?.reason, 'Disabled');
    const body = { spec: { cluster: { labels: { tier: 'test' } } } };
    await scene.client.patch(scene.ref('Sync', 'sync'), body, { type: 'merge', fieldManager: 'test' });
    await eventually(async () => assert.deepEqual(await there(), [true, false, false, true]));
    await syncReaches(scene.client, scene.namespace, 'Ready');
  });

  test('a change outside its window waits and says when the window opens; what is installed stays', async (t) => {
    const scene = await startScene(t, { files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...maps('a') } });
    const before = await scene.get('Plugin', 'a');
    const closed = { when: { window: { cron: farAway(), for: '1h' } } };
    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', closed) });
    await scene.settle({ 'apps/a/a.yaml': configMap('a', { a: '2' }) }, 'Progressing');
    const waiting = await pluginReaches(scene.client, scene.namespace, 'a', 'Waiting');
    assert.match(waiting.status?.waitingFor?.[0] ?? '', /^its window, which opens at 20\d\d-\d\d-\d\dT/);
    assert.equal(findCondition(waiting.status?.conditions, 'Waiting')?.reason, 'WindowClosed');
    await always(async () => assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '1' }));
    await scene.client.delete(scene.ref('ConfigMap', 'a'));
    await always(async () =>
      assert.equal((await getPlugin(scene.client, scene.namespace, 'a'))?.metadata.uid, before.metadata.uid),
    );

    const open = { when: { window: { cron: '* * * * *', for: '10m' } } };
    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', open) });
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2' });
  });

  test('enabled: false removes what is installed, true brings it back; dependents wait meanwhile', async (t) => {
    const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...maps('a', 'b') };
    const scene = await startScene(t, { files });
    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { enabled: false }) });
    assert.equal(await isThere(scene, 'a'), false);
    assert.deepEqual((await getPlugin(scene.client, scene.namespace, 'a'))?.status?.inventory, []);
    await scene.settle({ 'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ name: 'a' }] }) }, 'Progressing');
    const b = await pluginReaches(scene.client, scene.namespace, 'b', 'Waiting');
    assert.deepEqual(b.status?.waitingFor, ['a: is disabled']);
    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a') });
    assert.deepEqual([await isThere(scene, 'a'), await isThere(scene, 'b')], [true, true]);
  });

  test('a suspended Sync takes nothing from Git until it is resumed', async (t) => {
    const scene = await startScene(t, { files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...maps('a') } });
    await setSuspend(scene, 'Sync', 'sync', true);
    const sync = await syncReaches(scene.client, scene.namespace, 'Suspended');
    assert.equal(sync.status?.observedGeneration, sync.metadata.generation);
    const commit = await scene.push({ 'apps/a/a.yaml': configMap('a', { a: '2' }) });
    await always(async () => {
      assert.notEqual((await getSync(scene.client, scene.namespace)).status?.observed?.commit, commit);
      assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '1' });
    });
    await setSuspend(scene, 'Sync', 'sync', false);
    await syncReaches(scene.client, scene.namespace, 'Ready', { commit });
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2' });
  });

  test('a suspended Plugin is left as it is, drift included; commits keep it suspended, and resuming catches up', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a'),
        'plugins/b.yaml': pluginYaml('b', 'apps/b'),
        ...maps('a', 'b'),
      },
    });
    await setSuspend(scene, 'Plugin', 'a', true);
    await pluginReaches(scene.client, scene.namespace, 'a', 'Suspended');
    await scene.client.patch(
      scene.ref('ConfigMap', 'a'),
      { data: { a: 'by hand' } },
      { type: 'merge', fieldManager: 'somebody' },
    );
    await scene.push({ 'apps/a/a.yaml': configMap('a', { a: '2' }), 'apps/b/b.yaml': configMap('b', { a: '2' }) });
    await eventually(async () => assert.deepEqual((await scene.get('ConfigMap', 'b')).data, { a: '2' }));
    await always(async () => {
      assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: 'by hand' });
      assert.equal((await getPlugin(scene.client, scene.namespace, 'a'))?.status?.phase, 'Suspended');
    });
    await setSuspend(scene, 'Plugin', 'a', false);
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2' });
  });

  test('with upgrade.approval required a change waits for an approval of its commit, and no other; the first install does not', async (t) => {
    const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a', { upgrade: { approval: 'required' } }), ...maps('a') };
    const scene = await startScene(t, { files });
    const first = (await getSync(scene.client, scene.namespace)).status?.commit ?? '';
    const commit = await scene.settle({ 'apps/a/a.yaml': configMap('a', { a: '2' }) }, 'Held');
    const held = await pluginReaches(scene.client, scene.namespace, 'a', 'Held');
    assert.ok(isTrue(held.status?.conditions, 'Held'));
    assert.match(
      held.status?.message ?? '',
      new RegExp(`espalier approve sync -n ${scene.namespace} --commit ${commit}$`),
    );
    await approve(scene, 'Plugin', 'a', first);
    await always(async () => assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '1' }));
    await approve(scene, 'Plugin', 'a', commit);
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2' });

    const next = await scene.settle({ 'apps/a/a.yaml': configMap('a', { a: '3' }) }, 'Held');
    await pluginReaches(scene.client, scene.namespace, 'a', 'Held');
    await approve(scene, 'Sync', 'sync', next);
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    await syncReaches(scene.client, scene.namespace, 'Ready');
  });

  test('while a change is held, what drifts is told; it is repaired together with the change', async (t) => {
    const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a', { upgrade: { approval: 'required' } }), ...maps('a') };
    const scene = await startScene(t, { files });
    const commit = await scene.settle({ 'apps/a/a.yaml': configMap('a', { a: '2' }) }, 'Held');
    await scene.client.patch(
      scene.ref('ConfigMap', 'a'),
      { data: { a: 'by hand' } },
      { type: 'merge', fieldManager: 'somebody' },
    );
    await eventually(async () => {
      const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Held');
      assert.deepEqual([status?.drift?.[0]?.fields, status?.drift?.[0]?.by], [['data.a'], 'somebody']);
    });
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: 'by hand' });
    await approve(scene, 'Plugin', 'a', commit);
    const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2' });
    assert.equal(status?.drift, undefined);
  });
});

function maps(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`apps/${name}/${name}.yaml`, configMap(name)]));
}

async function isThere({ client, ref }: Scene, name: string): Promise<boolean> {
  return (await client.get(ref('ConfigMap', name))) !== undefined;
}

async function setSuspend({ client, ref }: Scene, kind: string, name: string, suspend: boolean): Promise<void> {
  await client.patch(ref(kind, name), { spec: { suspend } }, { type: 'merge', fieldManager: 'test' });
}

async function approve({ client, ref }: Scene, kind: string, name: string, commit: string): Promise<void> {
  const metadata = { annotations: { [ANNOTATION.approve]: commit } };
  await client.patch(ref(kind, name), { metadata }, { type: 'merge', fieldManager: 'test' });
}

/** A minute of the year that is half a year from now. */
function farAway(): string {
  const at = new Date(Date.parse(timestamp(Date.now())) + 182 * 86_400_000);
  return `0 3 ${Math.min(28, at.getUTCDate())} ${at.getUTCMonth() + 1} *`;
}
