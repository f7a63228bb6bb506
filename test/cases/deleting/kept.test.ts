import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { eventually } from '../../support/eventually.ts';
import { uniqueName } from '../../support/names.ts';
import { startPlatform, yaml } from '../support/platform.ts';
import { widgetKind } from '../support/widgets.ts';

test('D8: a plugin with a CRD is removed while an object of it exists: the CRD stays, also with deletion.crds delete, and status names it', async (t) => {
  const widgets = widgetKind(t);
  const platform = await startPlatform(t, {
    files: {
      'plugins/widgets.yaml': pluginYaml('widgets', 'apps/widgets', { deletion: { crds: 'delete' } }),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/widgets/crd.yaml': widgets.definition(),
      'apps/widgets/cm.yaml': configMap('widgets'),
      'apps/other/cm.yaml': configMap('other'),
    },
  });
  await platform.settles();
  const made = await widgets.make('by-hand', platform.namespace);

  await platform.push({ 'plugins/widgets.yaml': null });
  const sync = await platform.settles();
  assert.deepEqual(sync.status?.kept, [
    `CustomResourceDefinition ${widgets.crd}: it goes when its objects are gone; 1 object of it exists`,
  ]);
  assert.match(sync.status?.message ?? '', new RegExp(`left in place: CustomResourceDefinition ${widgets.crd}`));
  await platform.isGone('ConfigMap', 'widgets');
  const live = await platform.get('Widget', 'by-hand', widgets.apiVersion);
  assert.equal(live?.metadata.uid, made.metadata.uid);

  await platform.restart();
  platform.look();
  const later = await platform.settles();
  assert.deepEqual(later.status?.kept, sync.status?.kept, 'a restart does not forget it');
});

test('D8: a CRD leaves the folder of a plugin that stays: it stays with its objects, and status names it', async (t) => {
  const widgets = widgetKind(t);
  const platform = await startPlatform(t, {
    files: {
      'plugins/widgets.yaml': pluginYaml('widgets', 'apps/widgets', { deletion: { crds: 'delete' } }),
      'apps/widgets/crd.yaml': widgets.definition(),
      'apps/widgets/cm.yaml': configMap('widgets'),
    },
  });
  await platform.settles();
  await widgets.make('by-hand', platform.namespace);

  await platform.push({ 'apps/widgets/crd.yaml': null });
  await platform.settles();
  const plugin = await platform.pluginReaches('widgets', 'Ready');
  assert.match(plugin.status?.message ?? '', new RegExp(`kept although no longer declared: .*${widgets.crd}`));
  assert.notEqual(await platform.get('Widget', 'by-hand', widgets.apiVersion), undefined);
});

test('D9: a Namespace and a PersistentVolumeClaim that leave the declaration stay, also when the plugin goes; deletion says otherwise', async (t) => {
  const names = [uniqueName('kept'), uniqueName('gone')] as const;
  const claim = (name: string, namespace: string) =>
    yaml({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Mi' } } },
    });
  const files = (name: string) => ({
    [`apps/${name}/ns.yaml`]: yaml({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
    [`apps/${name}/claim.yaml`]: claim('data', name),
    [`apps/${name}/cm.yaml`]: configMap('config', { a: '1' }, name),
    [`apps/${name}/own.yaml`]: configMap(name),
  });
  const health = [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', ready: 'true' }];
  const [kept, gone] = names;
  const platform = await startPlatform(t, {
    files: {
      'plugins/kept.yaml': pluginYaml('kept', `apps/${kept}`, { health }),
      'plugins/gone.yaml': pluginYaml('gone', `apps/${gone}`, {
        health,
        deletion: { namespaces: 'delete', volumes: 'delete' },
      }),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/other/cm.yaml': configMap('other'),
      ...files(kept),
      ...files(gone),
    },
  });
  t.after(async () => {
    for (const name of names) await platform.client.delete({ apiVersion: 'v1', kind: 'Namespace', name });
  });
  await platform.settles();
  const find = (kind: string, name: string, namespace?: string) =>
    platform.client.get({ apiVersion: 'v1', kind, name, ...(namespace === undefined ? {} : { namespace }) });
  const uids = async () => [
    (await find('Namespace', kept))?.metadata.uid,
    (await find('PersistentVolumeClaim', 'data', kept))?.metadata.uid,
  ];
  const before = await uids();

  await platform.push({
    ...Object.fromEntries(
      names.flatMap((name) =>
        [`apps/${name}/ns.yaml`, `apps/${name}/claim.yaml`, `apps/${name}/cm.yaml`].map((path) => [path, null]),
      ),
    ),
  });
  await platform.settles();
  assert.equal(await find('ConfigMap', 'config', kept), undefined);
  const plugin = await platform.plugin('kept');
  assert.match(plugin?.status?.message ?? '', new RegExp(`kept although no longer declared: .*Namespace ${kept}`));
  assert.match(
    plugin?.status?.message ?? '',
    new RegExp(`kept although no longer declared: .*PersistentVolumeClaim ${kept}/data`),
  );
  await eventually(async () => assert.equal(await find('Namespace', gone), undefined), { timeoutMs: 20_000 });

  await platform.push({ 'plugins/kept.yaml': null });
  const sync = await platform.settles();
  assert.equal(await platform.exists(kept), false);
  assert.deepEqual(await uids(), before);
  assert.deepEqual(sync.status?.kept?.toSorted(), [
    `Namespace ${kept}: deletion.namespaces is keep`,
    'PersistentVolumeClaim data: deletion.volumes is keep',
  ]);
});

test('D9: a namespace that may be deleted stays while another plugin has objects in it', async (t) => {
  const shared = uniqueName('shared');
  const platform = await startPlatform(t, {
    files: {
      'plugins/home.yaml': pluginYaml('home', 'apps/home', { deletion: { namespaces: 'delete' } }),
      'plugins/guest.yaml': pluginYaml('guest', 'apps/guest', { dependsOn: [] }),
      'apps/home/ns.yaml': yaml({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: shared } }),
      'apps/home/cm.yaml': configMap('home'),
      'apps/guest/cm.yaml': configMap('guest', { a: '1' }, shared),
    },
  });
  t.after(() => platform.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: shared }));
  await platform.settles();

  await platform.push({ 'plugins/home.yaml': null });
  const sync = await platform.settles();
  await platform.isGone('ConfigMap', 'home');
  assert.deepEqual(sync.status?.kept, [`Namespace ${shared}: plugin ${platform.namespace}/guest has objects in it`]);
  const namespace = await platform.client.get({ apiVersion: 'v1', kind: 'Namespace', name: shared });
  assert.equal(namespace?.metadata.deletionTimestamp, undefined);
});

test('D9: a namespace that may be deleted stays while a volume claim in it must', async (t) => {
  const home = uniqueName('home');
  const platform = await startPlatform(t, {
    files: {
      'plugins/home.yaml': pluginYaml('home', 'apps/home', { deletion: { namespaces: 'delete' } }),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/home/ns.yaml': yaml({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } }),
      'apps/home/cm.yaml': configMap('config', { a: '1' }, home),
      'apps/other/cm.yaml': configMap('other'),
    },
  });
  t.after(() => platform.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: home }));
  await platform.settles();
  const claim = await platform.client.create({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'by-a-stateful-set', namespace: home },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Mi' } } },
  });

  await platform.push({ 'plugins/home.yaml': null });
  const sync = await platform.settles();
  assert.deepEqual(sync.status?.kept, [`Namespace ${home}: PersistentVolumeClaim by-a-stateful-set in it stays`]);
  const live = await platform.client.get({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    namespace: home,
    name: 'by-a-stateful-set',
  });
  assert.equal(live?.metadata.uid, claim.metadata.uid);
  assert.equal(live?.metadata.deletionTimestamp, undefined);
});

test("D10: the agent's own manifests leave the repository: none of them is removed, and status says why", async (t) => {
  const own = { labels: { 'app.kubernetes.io/part-of': 'espalier' } };
  const manifest = (apiVersion: string, kind: string, name: string, labels = {}) =>
    yaml({ apiVersion, kind, metadata: { name, ...labels } });
  const files = {
    'apps/espalier/account.yaml': manifest('v1', 'ServiceAccount', 'espalier'),
    'apps/espalier/role.yaml': manifest('rbac.authorization.k8s.io/v1', 'Role', 'espalier-leader', own),
    'apps/espalier/config.yaml': manifest('v1', 'ConfigMap', 'settings', own),
    'apps/espalier/stray.yaml': configMap('stray'),
    'apps/espalier/more.yaml': configMap('more'),
  };
  const platform = await startPlatform(t, {
    files: {
      'plugins/espalier.yaml': pluginYaml('espalier', 'apps/espalier'),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/other/cm.yaml': configMap('other'),
      ...files,
    },
  });
  await platform.settles();
  const parts = async () =>
    Promise.all([
      platform.get('ServiceAccount', 'espalier'),
      platform.get('Role', 'espalier-leader', 'rbac.authorization.k8s.io/v1'),
      platform.get('ConfigMap', 'settings'),
    ]).then((objects) => objects.map((object) => object?.metadata.uid));
  const before = await parts();
  assert.ok(before.every((uid) => uid !== undefined));

  await platform.push(
    Object.fromEntries(['account', 'role', 'config', 'stray'].map((name) => [`apps/espalier/${name}.yaml`, null])),
  );
  await platform.settles();
  await platform.isGone('ConfigMap', 'stray');
  assert.deepEqual(await parts(), before);
  const plugin = await platform.plugin('espalier');
  for (const name of ['ServiceAccount', 'Role', 'ConfigMap'])
    assert.match(plugin?.status?.message ?? '', new RegExp(`kept although no longer declared: .*${name}`));

  await platform.push({ 'plugins/espalier.yaml': null });
  const sync = await platform.settles();
  await platform.isGone('ConfigMap', 'more');
  assert.deepEqual(await parts(), before);
  assert.equal(sync.status?.kept?.length, 3);
  for (const line of sync.status?.kept ?? []) assert.match(line, /the agent itself is made of it; remove it by hand/);
});

test('D10: a Sync that is declared in its own repository leaves it: refused, and everything else goes on', async (t) => {
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
  });
  const declared = { repository: { url: platform.repository.url, ref: { branch: 'main' } }, poll: '1h' };
  await platform.push({
    'sync.yaml': yaml({
      apiVersion: API_VERSION,
      kind: 'Sync',
      metadata: { name: 'sync', annotations: { 'espalier.dev/adopt': 'true' } },
      spec: declared,
    }),
  });
  const { metadata } = await platform.settles();
  assert.equal(metadata.labels?.['espalier.dev/sync'], 'sync', 'it is its own');

  await platform.push({ 'sync.yaml': null, 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
  const sync = await platform.settles();
  assert.equal(sync.metadata.uid, metadata.uid);
  assert.equal(sync.metadata.deletionTimestamp, undefined);
  assert.match(sync.status?.message ?? '', /left in place: Sync .*\/sync, which the agent never removes/);
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: '2' });
});
