import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ANNOTATION, findCondition, isTrue, type Plugin, readAs } from '../../src/api/index.ts';
import { watchObjects } from '../../src/cluster/watch.ts';
import { configMap, getPlugin, getSync, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { kubectl } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { commitFiles } from '../support/gitserver.ts';
import { uniqueName } from '../support/names.ts';
import { deployment, type Scene, startScene } from './scene.ts';

describe('what a status says', { concurrency: 3 }, () => {
  test('what is not healthy within its timeout counts as failed, and turns ready by itself later', async (t) => {
    const health = [{ apiVersion: 'v1', kind: 'ConfigMap', ready: "data.state == 'up'" }];
    const files = {
      'plugins/a.yaml': pluginYaml('a', 'apps/a', { health, timeout: '2s' }),
      'apps/a/cm.yaml': configMap('a'),
    };
    const scene = await startScene(t, { files, until: 'Failed' });
    const failed = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    assert.equal(findCondition(failed.status?.conditions, 'Ready')?.reason, 'HealthTimedOut');
    assert.match(failed.status?.message ?? '', /^not healthy within 2s: ConfigMap .*\/a: /);
    assert.ok(isTrue(failed.status?.conditions, 'Applied'));
    await setState(scene, 'up');
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');

    // A new revision has its own time.
    await setState(scene, 'down');
    await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    const seen = await follow(t, scene);
    await scene.push({ 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
    await eventually(() => assert.ok(seen.some(({ status }) => status?.phase === 'Progressing')));
    await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    await setState(scene, 'up');
    await syncReaches(scene.client, scene.namespace, 'Ready');
    const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.deepEqual(
      status?.history?.map(({ outcome }) => outcome),
      ['Ready', 'Failed', 'Failed', 'Ready', 'Failed'],
      'the newest first',
    );
  });

  test('a rule of health that is new is asked of what is there already, and so is its end', async (t) => {
    const health = [{ apiVersion: 'v1', kind: 'ConfigMap', ready: "data.a == '2'" }];
    const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') };
    const scene = await startScene(t, { files });
    const { resourceVersion } = (await scene.get('ConfigMap', 'a')).metadata;
    await scene.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { health }) });
    await pluginReaches(scene.client, scene.namespace, 'a', 'Progressing');
    await scene.settle({ 'plugins/a.yaml': pluginYaml('a', 'apps/a') });
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.equal(
      (await scene.get('ConfigMap', 'a')).metadata.resourceVersion,
      resourceVersion,
      'the object is as it was',
    );
  });

  test('time that was spent waiting for a dependency does not count against the timeout', async (t) => {
    const health = [{ apiVersion: 'v1', kind: 'ConfigMap', ready: "data.state == 'up'" }];
    const dependsOn = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'first' }];
    const files = {
      'plugins/a.yaml': pluginYaml('a', 'apps/a', { health, dependsOn, timeout: '3s' }),
      'apps/a/cm.yaml': configMap('a'),
    };
    const scene = await startScene(t, { files, until: 'Progressing' });
    await pluginReaches(scene.client, scene.namespace, 'a', 'Waiting');
    await always(() => undefined, { forMs: 4_000 });
    await scene.client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'first', namespace: scene.namespace },
    });
    const { metadata } = await eventually(() => scene.get('ConfigMap', 'a'));
    await setState(scene, 'up');
    const ready = await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    const [last, ...before] = ready.status?.history ?? [];
    assert.equal(last?.outcome, 'Ready');
    // A machine that stands still for some seconds may use up its own three as well.
    for (const { outcome, at } of before)
      assert.ok(Date.parse(at) - Date.parse(metadata.creationTimestamp ?? '') >= 2_000, `${outcome} at ${at}`);
  });

  test('a Job that fails makes its Plugin fail, with the reason', async (t) => {
    const scene = await startScene(t, {
      files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/job.yaml': hopelessJob() },
      until: 'Failed',
    });
    const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    assert.match(status?.message ?? '', /^Job .*\/hopeless: DeadlineExceeded/);
    assert.equal(findCondition(status?.conditions, 'Ready')?.reason, 'Unhealthy');
    assert.equal(findCondition(status?.conditions, 'Healthy')?.status, 'False');
    const sync = await syncReaches(scene.client, scene.namespace, 'Failed');
    assert.match(sync.status?.message ?? '', /1 failed: a \(Job .*\/hopeless: DeadlineExceeded/);
  });

  test('kubectl wait works on Syncs and Plugins, before and after they are ready', async (t) => {
    const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/web.yaml': deployment('a') };
    const scene = await startScene(t, { files, until: undefined });
    const wait = (...what: string[]) =>
      kubectl('wait', ...what, '-n', scene.namespace, '--timeout=30s', '--for=condition=Ready');
    assert.match(await wait('sync/sync'), /condition met/);
    assert.match(await wait('plugin/a'), /condition met/);
    const { metadata, status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.equal(status?.observedGeneration, metadata.generation);
    assert.equal(findCondition(status?.conditions, 'Ready')?.observedGeneration, metadata.generation);
    await scene.push({ 'apps/a/web.yaml': deployment('a', { image: 'registry.example.com/app:2' }) });
    await eventually(async () =>
      assert.notEqual((await scene.get('Plugin', 'a')).metadata.generation, metadata.generation),
    );
    await wait('plugin/a');
    assert.equal((await getPlugin(scene.client, scene.namespace, 'a'))?.status?.phase, 'Ready');
  });

  test('looking again changes nothing and tells nothing: Ready never flips, no Event is sent twice', async (t) => {
    const files = {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/web.yaml': deployment('a'),
      'apps/a/cm.yaml': configMap('a'),
    };
    const scene = await startScene(t, { files });
    const seen = await follow(t, scene);
    const written = scene.writesTo('configmaps/a').length;
    for (const value of ['1', '2', '3']) {
      await ask(scene, 'Plugin', 'a', value);
      await eventually(async () =>
        assert.equal((await getPlugin(scene.client, scene.namespace, 'a'))?.status?.lastHandledReconcileAt, value),
      );
      await ask(scene, 'Sync', 'sync', value);
      await eventually(async () =>
        assert.equal((await getSync(scene.client, scene.namespace)).status?.lastHandledReconcileAt, value),
      );
    }
    const told = (plugin: Plugin | undefined) => {
      const { lastHandledReconcileAt: _, ...rest } = plugin?.status ?? {};
      return JSON.stringify(rest);
    };
    assert.deepEqual(new Set(seen.map(told)), new Set([told(seen[0])]));
    assert.ok(isTrue(seen[0]?.status?.conditions, 'Ready'));
    assert.deepEqual(scene.writesTo('configmaps/a').slice(written), []);
    await eventually(async () => assert.deepEqual(await eventsOf(scene, 'a'), ['Ready']));
    await eventually(async () => assert.deepEqual(await eventsOf(scene, 'sync'), ['Ready']));
  });

  test('reconcile-at on a Sync looks at Git now, though its schedule is far away', async (t) => {
    const scene = await startScene(t, {
      files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
    });
    const commit = await commitFiles(scene.repository, { 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
    await ask(scene, 'Sync', 'sync', 'now');
    await syncReaches(scene.client, scene.namespace, 'Ready', { commit });
    assert.deepEqual((await scene.get('ConfigMap', 'a')).data, { a: '2' });
  });

  test('webhook configurations come after what serves them is healthy, and then at once', async (t) => {
    const name = uniqueName('hook');
    const health = [{ apiVersion: 'v1', kind: 'ConfigMap', ready: "data.state == 'up'" }];
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a', { health, timeout: '3s' }),
        'apps/a/cm.yaml': configMap('a'),
        'apps/a/hook.yaml': webhook(name),
      },
      until: 'Failed',
    });
    const ref = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', name };
    t.after(() => scene.client.delete(ref));
    const failed = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    assert.match(
      failed.status?.message ?? '',
      /^not healthy within 3s: ConfigMap .*\/a: .*; its webhooks are applied after that$/,
    );
    assert.equal(await scene.client.get(ref), undefined);
    await setState(scene, 'up');
    await pluginReaches(scene.client, scene.namespace, 'a', 'Ready');
    assert.notEqual(await scene.client.get(ref), undefined);
  });

  test('a Plugin that a person made follows a repository of its own, by its own schedule', async (t) => {
    const scene = await startScene(t, { files: { 'app/cm.yaml': configMap('mine') } });
    const spec = {
      kind: 'manifests',
      poll: '1s',
      source: { git: { url: scene.repository.url, path: 'app', ref: { branch: 'main' } } },
    };
    const head = (await getSync(scene.client, scene.namespace)).status?.commit;
    await scene.client.create({
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: { name: 'mine', namespace: scene.namespace },
      spec,
    });
    const first = await pluginReaches(scene.client, scene.namespace, 'mine', 'Ready');
    assert.equal(first.status?.revision?.commit, head);
    assert.equal(first.status?.revision?.version, head?.slice(0, 10));
    const commit = await commitFiles(scene.repository, { 'app/cm.yaml': configMap('mine', { a: '2' }) });
    await eventually(async () => assert.deepEqual((await scene.get('ConfigMap', 'mine')).data, { a: '2' }));
    await eventually(async () => {
      const { status } = await pluginReaches(scene.client, scene.namespace, 'mine', 'Ready');
      assert.equal(status?.revision?.commit, commit);
    });
    await commitFiles(scene.repository, { 'elsewhere/cm.yaml': configMap('elsewhere') });
    const { resourceVersion } = (await scene.get('Plugin', 'mine')).metadata;
    await always(
      async () => assert.equal((await scene.get('Plugin', 'mine')).metadata.resourceVersion, resourceVersion),
      { forMs: 2_000 },
    );
    await scene.client.delete(scene.ref('Plugin', 'mine'));
    await eventually(async () => assert.equal(await scene.client.get(scene.ref('ConfigMap', 'mine')), undefined));
  });
});

/** What the scene's Plugins are, and everything that they become. */
async function follow(t: { after(fn: () => void): void }, { client, namespace }: Scene): Promise<Plugin[]> {
  const seen: Plugin[] = [];
  const stop = new AbortController();
  t.after(() => stop.abort());
  const watch = watchObjects(
    client,
    { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', namespace },
    { onEvent: (_, object) => void seen.push(readAs(object, 'Plugin')) },
    { signal: stop.signal },
  );
  await watch.synced;
  return seen;
}

async function setState({ client, ref }: Scene, state: string): Promise<void> {
  await client.patch(ref('ConfigMap', 'a'), { data: { state } }, { type: 'merge', fieldManager: 'somebody' });
}

async function ask({ client, ref }: Scene, kind: string, name: string, value: string): Promise<void> {
  await client.patch(
    ref(kind, name),
    { metadata: { annotations: { [ANNOTATION.reconcileAt]: value } } },
    { type: 'merge', fieldManager: 'test' },
  );
}

async function eventsOf({ client, namespace }: Scene, name: string): Promise<string[]> {
  const { items } = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace });
  const mine = items.filter(({ regarding }) => {
    const about = regarding as { name?: string; apiVersion?: string };
    return about.name === name && about.apiVersion?.startsWith('espalier.dev/');
  });
  assert.ok(mine.every(({ series }) => series === undefined));
  return mine.map(({ reason }) => String(reason));
}

function hopelessJob(): string {
  const spec = {
    restartPolicy: 'Never',
    nodeSelector: { 'example.com/nowhere': 'x' },
    containers: [{ name: 'main', image: 'example.com/main:1' }],
  };
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'hopeless' },
    spec: { activeDeadlineSeconds: 1, backoffLimit: 0, template: { spec } },
  });
}

/** About a kind that nobody has: it can refuse nothing. */
function webhook(name: string): string {
  return JSON.stringify({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'check.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { service: { name: 'hook', namespace: 'default', path: '/' } },
        rules: [
          { apiGroups: ['nobody.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] },
        ],
      },
    ],
  });
}
