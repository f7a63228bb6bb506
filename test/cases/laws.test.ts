import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { configMap, pluginYaml } from '../support/agent.ts';
import { kubectl, testKubeconfig } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { type HttpProxy, type SeenRequest, startHttpProxy } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { type Platform, type PlatformOptions, startPlatform, yaml } from './support/platform.ts';
import { widgetKind } from './support/widgets.ts';

// One story a law, named after it; what the cases under deleting/, running/ and hostile/ tell is not told again.

const BROKEN = 'kind: ConfigMap\nmetadata: {name: [\n';

const both = {
  'plugins/a.yaml': pluginYaml('a', 'apps/a'),
  'plugins/b.yaml': pluginYaml('b', 'apps/b'),
  'apps/a/cm.yaml': configMap('a'),
  'apps/b/cm.yaml': configMap('b'),
};

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

test('law 1: an error is never an absence: values that are gone change and remove nothing, and are waited for', async (t) => {
  const values = (text: string) => ({ data: { 'values.yaml': `text: ${text}\n` } });
  const valuesFrom = [{ kind: 'ConfigMap', name: 'values' }];
  const source = { git: { path: 'apps/a', template: true } };
  const platform = await startPlatform(t, {
    files: {
      ...both,
      'plugins/a.yaml': pluginYaml('a', 'apps/a', { source, valuesFrom }),
      'apps/a/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {text: "{{ .text }}"}\n',
    },
    prepare: async (client, namespace) => {
      await client.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'values', namespace },
        ...values('first'),
      });
    },
  });
  await platform.settles();
  const before = await platform.get('ConfigMap', 'a');
  assert.deepEqual(before?.data, { text: 'first' });

  await platform.client.delete(platform.ref('ConfigMap', 'values'));
  await platform.pluginSays('a', /ConfigMap "values", which does not exist/);
  await platform.push({ 'plugins/b.yaml': null });
  await platform.says(/removals wait for Plugin .*\/a to render/);
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.metadata, before?.metadata);
  assert.ok(await platform.exists('b'), 'what the values might still ask for is not known');

  const { namespace } = platform;
  await platform.client.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'values', namespace },
    ...values('second'),
  });
  await platform.settles();
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { text: 'second' });
  assert.equal(await platform.exists('b'), false);
});

test('law 2: a revision compiles and renders whole before anything of it is deleted, also when a later commit mends it', async (t) => {
  const platform = await startPlatform(t, {
    files: { ...both, 'plugins/c.yaml': pluginYaml('c', 'apps/c'), 'apps/c/cm.yaml': configMap('c') },
  });
  await platform.settles();
  await platform.push({
    'plugins/c.yaml': null,
    'apps/b/broken.yaml': BROKEN,
    'apps/a/cm.yaml': configMap('a', { a: '2' }),
  });
  await platform.pluginReaches('b', 'Failed');
  await eventually(async () => assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: '2' }));
  await always(async () => assert.ok(await platform.exists('c')), { forMs: 500 });
  await platform.restart();
  await always(async () => assert.ok(await platform.exists('c')), { forMs: 500 });

  await platform.push({ 'apps/b/broken.yaml': null });
  await platform.settles();
  assert.equal(await platform.exists('c'), false);
});

test('law 3: intent is recorded before the write: every object is on record before the request that creates it', async (t) => {
  const { platform, proxy } = await behindProxy(t, { files: { ...both, 'apps/a/more.yaml': configMap('more') } });
  await platform.settles();
  const writes = proxy.requests.filter((request) => request.mutation > 0);
  const firstWrite = (path: RegExp) => writes.findIndex((request) => path.test(request.path));
  const onRecord = (status: RegExp, name: string) =>
    writes.findIndex(({ path, body }) => status.test(path) && inventoryOf(body).includes(name));
  for (const [name, plugin] of [
    ['a', 'a'],
    ['more', 'a'],
    ['b', 'b'],
  ] as const) {
    const [recorded, written] = [
      onRecord(new RegExp(`/plugins/${plugin}/status`), `ConfigMap ${name}`),
      firstWrite(new RegExp(`/configmaps/${name}\\b`)),
    ];
    assert.ok(recorded >= 0 && recorded < written, `ConfigMap ${name}: recorded ${recorded}, written ${written}`);
  }
  for (const name of ['a', 'b']) {
    const [recorded, written] = [
      onRecord(/\/syncs\/sync\/status/, `Plugin ${name}`),
      firstWrite(new RegExp(`/plugins/${name}\\?`)),
    ];
    assert.ok(recorded >= 0 && recorded < written, `Plugin ${name}: recorded ${recorded}, written ${written}`);
  }
});

function inventoryOf(body: string): string[] {
  const { status } = JSON.parse(body) as { status?: { inventory?: string[] } };
  return (status?.inventory ?? []).map((line) => line.replace(/^\S+ (\S+) ([^ /]+\/)?(\S+).*/, '$1 $3'));
}

test('law 4: delete only what our record owns, by UID: an object that took the name of ours stays', async (t) => {
  const { platform, proxy } = await behindProxy(t, {
    files: {
      ...both,
      'apps/a/more.yaml': configMap('more'),
      'plugins/a.yaml': pluginYaml('a', 'apps/a', { drift: { mode: 'report' } }),
    },
  });
  await platform.settles();
  await platform.stopAgent();
  const { client, namespace, ref } = platform;
  await client.delete(ref('ConfigMap', 'a'));
  const stranger = await client.create(JSON.parse(configMap('a', { theirs: 'yes' }, namespace)));
  proxy.reset();

  await platform.restart();
  await platform.push({ 'plugins/a.yaml': null });
  await platform.settles();
  assert.equal(await platform.uid('a'), stranger.metadata.uid);
  assert.equal(await platform.exists('more'), false);
  const deletes = proxy.requests.filter(({ method }) => method === 'DELETE');
  assert.ok(deletes.length > 0);
  for (const { path, body } of deletes) assert.match(body, /"preconditions":\{"uid":"[0-9a-f-]{36}"/, path);
});

test('law 5: definitions that still have objects, namespaces and volume claims stay, also when the whole Sync is deleted', async (t) => {
  const widgets = widgetKind(t);
  const home = uniqueName('home');
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a', {
        deletion: { crds: 'delete' },
        health: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', ready: 'true' }],
      }),
      'apps/a/crd.yaml': widgets.definition(),
      'apps/a/namespace.yaml': yaml({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: home } }),
      'apps/a/claim.yaml': yaml({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'data', namespace: home },
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Mi' } } },
      }),
      'apps/a/cm.yaml': configMap('config', { a: '1' }, home),
    },
  });
  const { client, namespace } = platform;
  t.after(() => client.delete({ apiVersion: 'v1', kind: 'Namespace', name: home }));
  await platform.settles();
  await widgets.make('by-hand', namespace);
  const stays = [
    { apiVersion: widgets.apiVersion, kind: 'Widget', namespace, name: 'by-hand' },
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: widgets.crd },
    { apiVersion: 'v1', kind: 'Namespace', name: home },
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: home, name: 'data' },
  ];

  await client.delete(platform.ref('Sync', 'sync', API_VERSION));
  await platform.isGone('Sync', 'sync', API_VERSION);
  assert.equal(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: home, name: 'config' }), undefined);
  for (const ref of stays) {
    const live = await client.get(ref);
    assert.ok(live !== undefined && live.metadata.deletionTimestamp === undefined, `${ref.kind} ${ref.name} stays`);
  }
});

test('law 6: large removals wait for an approval that names the commit, whoever asks for them and however often', async (t) => {
  const platform = await startPlatform(t, {
    files: { ...both, 'plugins/c.yaml': pluginYaml('c', 'apps/c'), 'apps/c/cm.yaml': configMap('c') },
    spec: { prune: { hold: { percent: 100, count: 1 } } },
  });
  await platform.settles();
  const commit = await platform.push({ 'plugins/a.yaml': null, 'plugins/b.yaml': null });
  const held = await platform.reaches('Held');
  assert.match(held.status?.message ?? '', /2 of 3 plugins would be removed: more than 1; approve: espalier approve/);
  for (let times = 0; times < 3; times++) platform.look();
  await platform.restart();
  await always(async () => assert.ok((await platform.exists('a')) && (await platform.exists('b'))), { forMs: 500 });
  assert.equal((await platform.reaches('Held')).status?.held?.commit, commit);

  await platform.approve(commit);
  await platform.settles();
  for (const name of ['a', 'b']) assert.equal(await platform.exists(name), false);
});

test('law 7: two owners of one field: the first keeps it, the second is told who that is, and taking over is explicit', async (t) => {
  const platform = await startPlatform(t, { files: both });
  await platform.settles();
  const { client, namespace } = platform;
  const theirs = JSON.parse(configMap('a', { shared: 'theirs' }, namespace));
  await client.apply(theirs, { fieldManager: 'another-tool' });

  await platform.push({ 'apps/a/cm.yaml': configMap('a', { a: '2', shared: 'ours' }) });
  const failed = await platform.pluginReaches('a', 'Failed');
  assert.match(failed.status?.message ?? '', /data\.shared \(held by another-tool\).*spec\.apply\.force/);
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: '1', shared: 'theirs' });

  const apply = { force: true };
  await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a', { apply }) });
  await platform.settles();
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: '2', shared: 'ours' });
});

test('law 8: nothing is terminal: what failed comes right by itself once its reason is gone, also after a restart', async (t) => {
  const missing = uniqueName('later');
  const platform = await startPlatform(t, {
    files: { ...both, 'apps/a/there.yaml': configMap('there', { a: '1' }, missing) },
  });
  t.after(() => platform.client.delete({ apiVersion: 'v1', kind: 'Namespace', name: missing }));
  const failed = await platform.pluginReaches('a', 'Failed');
  assert.match(failed.status?.message ?? '', new RegExp(`namespaces "${missing}" not found`));
  await platform.restart();
  await platform.pluginReaches('a', 'Failed');

  await platform.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: missing } });
  await platform.settles();
});

test('law 9: every step has a deadline, and a child process dies with its whole group', async (t) => {
  const fake = join(await tempDir(t), 'kustomize');
  const pids = `${fake}.pids`;
  await writeFile(fake, `#!/bin/sh\n/bin/sleep 3600 &\necho $$ $! > ${pids}\nwait\n`, { mode: 0o755 });
  process.env.ESPALIER_TOOL_KUSTOMIZE = fake;
  t.after(() => delete process.env.ESPALIER_TOOL_KUSTOMIZE);
  const platform = await startPlatform(t, {
    files: {
      ...both,
      'plugins/a.yaml': pluginYaml('a', 'apps/a', { kind: 'kustomize', timeout: '1s' }),
      'apps/a/kustomization.yaml': 'resources: [cm.yaml]\n',
    },
  });
  await platform.pluginReaches('b', 'Ready');
  await platform.pluginSays('a', /did not end within/);
  // One that got no time to say who it is was ended too; then another try says so.
  const pair = await eventually(async () => {
    const said = /^(\d+) (\d+)\n$/.exec(await readFile(pids, 'utf8'));
    assert.ok(said !== null);
    return said.slice(1).map(Number);
  });
  for (const pid of pair) await eventually(() => assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }));
});

test('law 10: a secret value never reaches a log, status or event: neither of values, nor of Secrets, nor from what the API server quotes', async (t) => {
  const [password, token] = [`canary-${uniqueName('p')}!`, `canary-${uniqueName('t')}!`];
  const log = join(await tempDir(t), 'agent.log');
  process.env.ESPALIER_TEST_LOG = log;
  t.after(() => delete process.env.ESPALIER_TEST_LOG);
  const template = {
    source: { git: { path: 'apps/a', template: true } },
    valuesFrom: [{ kind: 'Secret', name: 'values' }],
  };
  const platform = await startPlatform(t, {
    files: {
      'plugins/a.yaml': pluginYaml('a', 'apps/a', template),
      'plugins/b.yaml': pluginYaml('b', 'apps/b'),
      'plugins/c.yaml': pluginYaml('c', 'apps/c', { ...template, source: { git: { path: 'apps/c', template: true } } }),
      // A label can't hold it, and the API server quotes what it refuses.
      'apps/a/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {leak: "{{ .password }}"}}\n',
      'apps/b/secret.yaml': yaml({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' }, stringData: { token } }),
      'apps/c/cm.yaml': '{{ fail .password }}\n',
    },
    prepare: async (client, namespace) => {
      const metadata = { name: 'values', namespace };
      await client.create({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { password } });
    },
  });
  await platform.pluginReaches('a', 'Failed');
  await platform.pluginReaches('c', 'Failed');
  await platform.pluginReaches('b', 'Ready');
  const { client, namespace, ref } = platform;
  const byHand = { stringData: { token: `${token}-changed` } };
  await client.patch(ref('Secret', 'b'), byHand, { type: 'merge', fieldManager: 'somebody' });
  await eventually(async () => {
    const { data } = (await client.get(ref('Secret', 'b'))) as unknown as { data: Record<string, string> };
    assert.equal(Buffer.from(data.token ?? '', 'base64').toString(), token);
  });
  await platform.stopAgent();
  const shown = [
    await kubectl('get', 'syncs,plugins', '-n', namespace, '-o', 'jsonpath={range .items[*]}{.status}{.metadata}{end}'),
    await kubectl('get', 'events', '-n', namespace, '-o', 'json'),
    await readFile(log, 'utf8'),
  ].join('\n');
  assert.ok(shown.includes('a valid label must'), 'the reason is told all the same');
  for (const canary of [password, token])
    for (const form of [canary, canary.slice(0, -1), base64(canary), encodeURIComponent(canary)])
      assert.ok(!shown.includes(form), `${form} is shown`);
});

/** Without its end, which depends on what follows. */
function base64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1);
}

const isRenewal = ({ path }: SeenRequest) => path.includes('/leases/');
const isEvent = ({ path }: SeenRequest) => path.includes('/events');

test('law 11: a status never claims what was not reached, and nothing is written when nothing changed', async (t) => {
  const labels = { app: 'web' };
  const deployment = (nodeSelector: Record<string, string>) =>
    yaml({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            nodeSelector,
            terminationGracePeriodSeconds: 0,
            containers: [{ name: 'web', image: 'registry.example.com/web:1' }],
          },
        },
      },
    });
  const { platform, proxy } = await behindProxy(t, {
    files: { ...both, 'apps/a/web.yaml': deployment({ 'example.com/nowhere': 'true' }) },
  });
  await platform.pluginReaches('a', 'Progressing');
  await platform.pluginReaches('b', 'Ready');
  await always(
    async () => {
      const { status } = await platform.sync();
      assert.notEqual(status?.phase, 'Ready');
      assert.notEqual(status?.conditions?.find((one) => one.type === 'Ready')?.status, 'True');
    },
    { forMs: 1_000 },
  );

  await platform.push({ 'apps/a/web.yaml': deployment({}) });
  await platform.settles();
  const { status } = (await platform.get('Deployment', 'web', 'apps/v1')) as unknown as {
    status: { readyReplicas: number };
  };
  assert.equal(status.readyReplicas, 1);

  const rests = async () => {
    // Events are sent one after the other: the next one comes when this one was answered.
    assert.ok(proxy.requests.every((request) => !isEvent(request) || request.status !== 0));
    proxy.reset();
    for (let times = 0; times < 5; times++) {
      platform.look();
      await always(() => undefined, { forMs: 100 });
    }
    return proxy.requests.filter((request) => request.mutation > 0 && !isRenewal(request)).map(({ path }) => path);
  };
  // Events of what went before may still be on their way.
  await eventually(async () => assert.deepEqual(await rests(), []));
  const before = await Promise.all([platform.sync(), platform.plugin('a'), platform.plugin('b')]);
  await platform.restart();
  await platform.settles();
  const after = await Promise.all([platform.sync(), platform.plugin('a'), platform.plugin('b')]);
  assert.deepEqual(
    after.map((object) => object?.metadata.resourceVersion),
    before.map((object) => object?.metadata.resourceVersion),
    'a restart changes no status either',
  );
  assert.deepEqual(proxy.requests.filter(isEvent), []);
});

test('law 12: a plugin has the rights of its service account and no more, in applying, adopting and removing', async (t) => {
  const platform = await startPlatform(t, {
    files: {
      ...both,
      'plugins/a.yaml': pluginYaml('a', 'apps/a', { serviceAccountName: 'tenant' }),
      'apps/a/account.yaml': yaml({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'more' } }),
      'apps/a/role.yaml': yaml({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'more-rights' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', name: 'tenant' }],
      }),
    },
    prepare: async (client, namespace) => {
      await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'tenant', namespace } });
      const core = (resources: string[], ...verbs: string[]) => ({ apiGroups: [''], resources, verbs });
      const bindings = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['rolebindings'], verbs: ['get'] };
      const roles = {
        write: [core(['configmaps'], 'get', 'create', 'patch'), core(['serviceaccounts'], 'get'), bindings],
        remove: [core(['configmaps'], 'delete')],
      };
      for (const [name, rules] of Object.entries(roles))
        await client.create({ apiVersion: RBAC, kind: 'Role', metadata: { name, namespace }, rules });
      await bind(client, namespace, 'write');
    },
  });
  const { client, namespace } = platform;
  const who = `system:serviceaccount:${namespace}:tenant`;
  // Rights that were given a moment ago may not count yet.
  const failed = await platform.pluginSays('a', new RegExp(`User "${who}" cannot (create|patch) resource`));
  assert.equal(failed.status?.phase, 'Failed');
  const ready = failed.status?.conditions?.find((one) => one.type === 'Ready');
  assert.equal(ready?.reason, 'KubeForbidden');
  await eventually(async () => assert.ok(await platform.exists('a'), 'what it may write is written'));
  assert.equal(await platform.get('ServiceAccount', 'more'), undefined);
  assert.equal(await platform.get('RoleBinding', 'more-rights', RBAC), undefined);
  await platform.pluginReaches('b', 'Ready');

  await platform.push({ 'apps/a/account.yaml': null, 'apps/a/role.yaml': null });
  await platform.settles();
  await platform.push({ 'plugins/a.yaml': null });
  await platform.pluginSays('a', new RegExp(`could not remove: .*User "${who}" cannot delete resource "configmaps"`));
  assert.ok(await platform.exists('a'));
  await bind(client, namespace, 'remove');
  await platform.settles();
  assert.equal(await platform.exists('a'), false);
});

const RBAC = 'rbac.authorization.k8s.io/v1';

async function bind(client: Platform['client'], namespace: string, role: string): Promise<void> {
  await client.create({
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: { name: role, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
    subjects: [{ kind: 'ServiceAccount', name: 'tenant', namespace }],
  });
}

test('law 13: one bad plugin never delays the others: eight fail in as many ways, the ninth converges and its next commit does too', async (t) => {
  const bad: Record<string, [spec: Record<string, unknown>, file: string]> = {
    yaml: [{}, BROKEN],
    kind: [{}, yaml({ apiVersion: 'nobody.example.com/v1', kind: 'Thing', metadata: { name: 'x' } })],
    refused: [{}, yaml({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { ports: [] } })],
    account: [{ serviceAccountName: 'nobody' }, configMap('x')],
    waits: [
      { dependsOn: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'never', namespace: 'default' }] },
      configMap('y'),
    ],
    values: [{ valuesFrom: [{ kind: 'ConfigMap', name: 'never' }] }, configMap('z')],
    chart: [{ kind: 'kustomize' }, 'resources: [nothing.yaml]\n'],
    taken: [{}, configMap('kube-root-ca.crt')],
  };
  const platform = await startPlatform(t, {
    files: {
      ...Object.fromEntries(
        Object.entries(bad).flatMap(([name, [spec, file]]) => [
          [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`, spec)],
          [`apps/${name}/${name === 'chart' ? 'kustomization' : 'object'}.yaml`, file],
        ]),
      ),
      'plugins/good.yaml': pluginYaml('good', 'apps/good'),
      'apps/good/cm.yaml': configMap('good'),
    },
    prepare: async (client, namespace) => {
      // Every namespace gets one, some time after it was made.
      const taken = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'kube-root-ca.crt' };
      await eventually(async () => assert.ok(await client.get(taken)));
    },
  });
  await platform.pluginReaches('good', 'Ready');
  await platform.says(/1 plugin ready|^plugins\/chart\.yaml/);
  for (const name of Object.keys(bad)) assert.notEqual((await platform.plugin(name))?.status?.phase, 'Ready', name);
  await platform.push({ 'apps/good/cm.yaml': configMap('good', { a: '2' }) });
  await eventually(async () => assert.deepEqual((await platform.get('ConfigMap', 'good'))?.data, { a: '2' }));
});
