import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCondition, type KubeObject } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import { watchObjects } from '../../src/cluster/watch.ts';
import { configMap, getPlugin, getSync, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { deployment, startScene } from './scene.ts';

describe('dependencies', { concurrency: 3 }, () => {
  test('a dependent starts on the very event that makes its dependency healthy', async (t) => {
    const names = ['a', 'b', 'c', 'd'];
    const scene = await startScene(t, { files: {}, until: undefined });
    const seen = follow(t, scene.client, scene.namespace);
    await scene.settle(
      Object.fromEntries(
        names.flatMap((name, index) => [
          [
            `plugins/${name}.yaml`,
            pluginYaml(name, `apps/${name}`, index === 0 ? {} : { dependsOn: [{ name: names[index - 1] }] }),
          ],
          [`apps/${name}/web.yaml`, deployment(name)],
        ]),
      ),
    );
    const hops = names.slice(1).map((name, index) => {
      const [available, created] = [seen.available.get(names[index] ?? ''), seen.created.get(name)];
      assert.ok(available !== undefined && created !== undefined);
      assert.ok(
        created >= available,
        `${name} was made ${available - created} ms before ${names[index]} was available`,
      );
      return created - available;
    });
    // Nothing but that event would start it for hours.
    assert.ok(Math.min(...hops) < 5_000, `hops took ${hops.map(Math.round).join(', ')} ms`);
  });

  test('a dependent waits, says for what, and is not touched before', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a', {
          gates: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', condition: 'Open' }],
        }),
        'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ name: 'a' }] }),
        'plugins/c.yaml': pluginYaml('c', 'apps/c'),
        'apps/a/cm.yaml': configMap('a'),
        'apps/b/cm.yaml': configMap('b'),
        'apps/c/cm.yaml': configMap('c'),
      },
      until: 'Progressing',
    });
    const b = await pluginReaches(scene.client, scene.namespace, 'b', 'Waiting');
    assert.deepEqual(
      b.status?.waitingFor?.map((text) => text.split(':')[0]),
      ['a'],
    );
    assert.equal(findCondition(b.status?.conditions, 'Waiting')?.reason, 'DependencyNotReady');
    assert.equal(findCondition(b.status?.conditions, 'Ready')?.status, 'False');
    // Until its watch has told, it is only known that nothing is known.
    const a = await eventually(async () => {
      const plugin = await pluginReaches(scene.client, scene.namespace, 'a', 'Waiting');
      assert.deepEqual(plugin.status?.waitingFor, ['ConfigMap never: does not exist']);
      return plugin;
    });
    assert.equal(findCondition(a.status?.conditions, 'Waiting')?.reason, 'GateClosed');
    await pluginReaches(scene.client, scene.namespace, 'c', 'Ready');
    assert.equal(await scene.client.get(scene.ref('ConfigMap', 'b')), undefined);
  });

  test('any object can be waited for: a definition of the cluster, a Deployment, one whose CEL expression must hold', async (t) => {
    const group = `${uniqueName('deps')}.example.com`;
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a', {
          dependsOn: [
            { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `widgets.${group}` },
            { apiVersion: 'apps/v1', kind: 'Deployment', name: 'base' },
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'phase', ready: "data.phase == 'done'" },
          ],
        }),
        'apps/a/cm.yaml': configMap('a'),
      },
      until: 'Progressing',
    });
    const { client, namespace } = scene;
    const waitsFor = (names: string[]) =>
      eventually(async () => {
        const plugin = await getPlugin(client, namespace, 'a');
        assert.deepEqual(
          plugin?.status?.waitingFor?.map((text) => text.split(':')[0]),
          names,
        );
      });
    await waitsFor([`CustomResourceDefinition widgets.${group}`, 'Deployment base', 'ConfigMap phase']);
    t.after(() =>
      client.delete({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: `widgets.${group}`,
      }),
    );
    await client.create(definition(group));
    await waitsFor(['Deployment base', 'ConfigMap phase']);
    await client.create({ ...(JSON.parse(deployment('base')) as KubeObject), metadata: { name: 'base', namespace } });
    await waitsFor(['ConfigMap phase']);
    await client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'phase', namespace },
      data: { phase: 'half' },
    });
    await waitsFor(['ConfigMap phase']);
    const started = performance.now();
    await client.patch(scene.ref('ConfigMap', 'phase'), { data: { phase: 'done' } }, { type: 'merge' });
    await eventually(() => scene.get('ConfigMap', 'a'));
    assert.ok(performance.now() - started < 10_000);
    await pluginReaches(client, namespace, 'a', 'Ready');
  });

  test('a name without a namespace means an object in the namespace of the Plugin, not one of that name elsewhere', async (t) => {
    const gate = { apiVersion: 'v1', kind: 'ConfigMap', name: 'kube-root-ca.crt', condition: 'Open' };
    const wanted = { apiVersion: 'v1', kind: 'ServiceAccount', name: uniqueName('only-elsewhere') };
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a', { gates: [gate], dependsOn: [wanted] }),
        'apps/a/cm.yaml': configMap('a'),
      },
      until: 'Progressing',
    });
    await scene.client.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: wanted.name, namespace: 'default' },
    });
    t.after(() => scene.client.delete({ ...wanted, namespace: 'default' }));
    const isMissing = async (): Promise<void> => {
      const plugin = await getPlugin(scene.client, scene.namespace, 'a');
      assert.equal(plugin?.status?.waitingFor?.[0], `ServiceAccount ${wanted.name}: does not exist`);
    };
    await eventually(isMissing);
    await always(isMissing);
  });

  test('a circle and a missing name are refused by name, and stop nobody else', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/circle.yaml': [
          pluginYaml('one', 'apps/a', { dependsOn: [{ name: 'two' }] }),
          pluginYaml('two', 'apps/a', { dependsOn: [{ name: 'three' }] }),
          pluginYaml('three', 'apps/a', { dependsOn: [{ name: 'one' }] }),
        ].join('\n---\n'),
        'plugins/lost.yaml': pluginYaml('lost', 'apps/a', { dependsOn: [{ name: 'nowhere' }] }),
        'plugins/fine.yaml': pluginYaml('fine', 'apps/a'),
        'apps/a/cm.yaml': configMap('a'),
      },
      until: 'Failed',
    });
    await pluginReaches(scene.client, scene.namespace, 'fine', 'Ready');
    const { status } = await getSync(scene.client, scene.namespace);
    const faults = new Map(
      status?.faults?.map(({ object, message, file, line }) => [object, { message, place: `${file}:${line}` }]),
    );
    assert.deepEqual([...faults.keys()].sort(), ['Plugin lost', 'Plugin one', 'Plugin three', 'Plugin two']);
    assert.match(faults.get('Plugin one')?.message ?? '', /one.*two.*three/);
    assert.match(faults.get('Plugin lost')?.message ?? '', /nowhere, which nothing declares/);
    assert.equal(faults.get('Plugin lost')?.place, 'plugins/lost.yaml:1');
    for (const name of ['one', 'two', 'three', 'lost'])
      assert.equal(await getPlugin(scene.client, scene.namespace, name), undefined);
  });

  test('a gate is opened by somebody else; one with a timeout counts as failed meanwhile, and opens all the same', async (t) => {
    const gate = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'door', condition: 'Open' };
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a', { gates: [gate] }),
        'plugins/b.yaml': pluginYaml('b', 'apps/b', { gates: [{ ...gate, timeout: '2s' }] }),
        'apps/a/cm.yaml': configMap('a'),
        'apps/b/cm.yaml': configMap('b'),
      },
      until: 'Progressing',
    });
    const { client, namespace } = scene;
    const late = await eventually(async () => {
      const plugin = await pluginReaches(client, namespace, 'b', 'Failed');
      assert.equal(plugin.status?.message, 'not opened within 2s: Deployment door: does not exist; it goes on waiting');
      return plugin;
    });
    assert.equal(findCondition(late.status?.conditions, 'Ready')?.reason, 'GateTimedOut');
    assert.deepEqual(late.status?.waitingFor, ['Deployment door: does not exist']);
    await pluginReaches(client, namespace, 'a', 'Waiting');
    await client.create({
      ...(JSON.parse(deployment('door', { replicas: 0 })) as KubeObject),
      metadata: { name: 'door', namespace },
    });
    await eventually(async () =>
      assert.match(
        (await getPlugin(client, namespace, 'a'))?.status?.waitingFor?.[0] ?? '',
        /condition Open is not true/,
      ),
    );
    const { status } = await scene.get('Deployment', 'door');
    const open = {
      type: 'Open',
      status: 'True',
      reason: 'Test',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const conditions = [...((status as { conditions?: object[] }).conditions ?? []), open];
    await client.patch(scene.ref('Deployment', 'door'), { status: { conditions } } as never, {
      type: 'merge',
      subresource: 'status',
    });
    for (const plugin of ['a', 'b']) await pluginReaches(client, namespace, plugin, 'Ready');
  });

  test('every object of a kind can be waited for; nobody looks at them any more once that is over', async (t) => {
    const labels = { 'example.com/pool': uniqueName('pool') };
    const all = { apiVersion: 'v1', kind: 'Node', all: true, labels };
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a', { dependsOn: [all] }),
        'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ ...all, namespace: 'default' }] }),
        'apps/a/cm.yaml': configMap('a'),
        'apps/b/cm.yaml': configMap('b'),
      },
      until: 'Progressing',
    });
    const { client, namespace } = scene;
    const name = 'all Nodes';
    const waitsFor = (why: string) =>
      eventually(async () => {
        const [text = ''] = (await getPlugin(client, namespace, 'a'))?.status?.waitingFor ?? [];
        assert.equal(text, `${name} with example.com/pool=${labels['example.com/pool']}: ${why}`);
      });
    await waitsFor('there is none');
    const nodes = ['one', 'two'].map((suffix) => `${labels['example.com/pool']}-${suffix}`);
    const [one = '', two = ''] = nodes;
    for (const node of nodes) {
      t.after(() => client.delete({ apiVersion: 'v1', kind: 'Node', name: node }));
      await client.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: node, labels } });
    }
    await waitsFor(`${one}: not ready (and 1 more)`);
    const becomesReady = (node: string) =>
      client.patch(
        { apiVersion: 'v1', kind: 'Node', name: node },
        { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }] } },
        { type: 'merge', subresource: 'status' },
      );
    await becomesReady(one);
    await waitsFor(`${two}: not ready`);
    await becomesReady(two);
    for (const plugin of ['a', 'b']) await pluginReaches(client, namespace, plugin, 'Ready');
    await scene.restartAgent(async () => scene.proxy.reset());
    await scene.settle({ 'apps/a/cm.yaml': null, 'plugins/a.yaml': null });
    assert.deepEqual(
      scene.proxy.requests.filter(({ path }) => path.startsWith('/api/v1/nodes')),
      [],
    );
  });

  test('removing goes the other way round: what others need stays until they are gone', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a'),
        'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ name: 'a' }] }),
        'apps/a/cm.yaml': configMap('a'),
        'apps/b/cm.yaml': configMap('b'),
      },
      spec: { prune: { hold: { percent: 100 } } },
    });
    const order: string[] = [];
    const stop = new AbortController();
    t.after(() => stop.abort());
    const watch = watchObjects(
      scene.client,
      { apiVersion: 'v1', kind: 'ConfigMap', namespace: scene.namespace },
      { onEvent: (type, object) => void (type === 'deleted' && order.push(object.metadata.name)) },
      { signal: stop.signal },
    );
    await watch.synced;
    await scene.settle({ 'plugins/a.yaml': null, 'plugins/b.yaml': null });
    await eventually(() => assert.deepEqual(order, ['b', 'a']));
    await syncReaches(scene.client, scene.namespace, 'Ready');
  });
});

/** When a Deployment was made, and when it became available, on one clock. */
function follow(t: { after(fn: () => void): void }, client: KubeClient, namespace: string) {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const [created, available] = [new Map<string, number>(), new Map<string, number>()];
  const note = (times: Map<string, number>, name: string) => times.has(name) || times.set(name, performance.now());
  watchObjects(
    client,
    { apiVersion: 'apps/v1', kind: 'Deployment', namespace },
    {
      onEvent(_, { metadata: { name }, status }) {
        note(created, name);
        if ((status as { availableReplicas?: number } | undefined)?.availableReplicas === 1) note(available, name);
      },
    },
    { signal: stop.signal },
  );
  return { created, available };
}

function definition(group: string): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
