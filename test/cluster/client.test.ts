import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type KubeObject } from '../../src/api/index.ts';
import type { RequestReport } from '../../src/cluster/client.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';

function configMap(namespace: string, name: string, data: Record<string, string> = { a: '1' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

async function errorOf(promise: Promise<unknown>): Promise<EspalierError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof EspalierError, `an EspalierError and not ${error}`);
  return error;
}

test('an object that does not exist is undefined, a kind that does not exist is an error', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  assert.equal(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'none' }), undefined);
  assert.equal(
    await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: uniqueName('no'), name: 'x' }),
    undefined,
  );
  const error = await errorOf(client.get({ apiVersion: 'nobody.example.com/v1', kind: 'Thing', name: 'x' }));
  assert.equal(error.code, 'KubeKindUnknown');
});

test('an object is created once, updated where nobody else was, and deleted once', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const created = await client.create(configMap(namespace, 'a'));
  assert.equal((await errorOf(client.create(configMap(namespace, 'a')))).code, 'KubeAlreadyExists');
  const updated = await client.update({ ...created, data: { a: '2' } });
  assert.equal((await errorOf(client.update({ ...created, data: { a: '3' } }))).code, 'KubeConflict');
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' };
  assert.deepEqual((await client.get(ref))?.data, { a: '2' });

  const { uid = '', resourceVersion = '' } = updated.metadata;
  assert.equal((await errorOf(client.delete(ref, { uid: 'another' }))).code, 'KubeConflict');
  assert.equal((await errorOf(client.delete(ref, { resourceVersion: '1' }))).code, 'KubeConflict');
  assert.equal(await client.delete(ref, { uid, dryRun: true }), 'deleted');
  assert.equal(await client.delete(ref, { uid, resourceVersion }), 'deleted');
  assert.equal(await client.delete(ref, { uid }), 'absent');
});

test('an update without a resourceVersion is refused before it is sent', async (t) => {
  const namespace = await testNamespace(t);
  assert.equal((await errorOf(testClient().update(configMap(namespace, 'a')))).code, 'KubeInvalid');
});

test('fields that another manager holds are named with it, and taken over by force', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  await client.apply(configMap(namespace, 'a', { a: '1', b: '1' }), { fieldManager: 'one' });
  const error = await errorOf(client.apply(configMap(namespace, 'a', { a: '2', b: '1' }), { fieldManager: 'two' }));
  assert.equal(error.code, 'KubeApplyConflict');
  assert.deepEqual(error.data.conflicts, [{ field: '.data.a', manager: 'one' }]);
  const forced = await client.apply(configMap(namespace, 'a', { a: '2' }), { fieldManager: 'two', force: true });
  assert.deepEqual(forced.data, { a: '2', b: '1' });
});

test('a dry run answers as the write would and changes nothing', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const answer = await client.apply(configMap(namespace, 'a'), { fieldManager: 'one', dryRun: true });
  assert.ok(answer.metadata.uid !== undefined);
  assert.equal(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' }), undefined);
});

test('every form of patch reaches the object, and the status is a part of its own', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' };
  await client.create(configMap(namespace, 'a', { a: '1', b: '1' }));
  await client.patch(ref, { data: { a: null, c: '1' } }, { type: 'merge' });
  const patched = await client.patch(ref, [{ op: 'replace', path: '/data/b', value: '2' }], { type: 'json' });
  assert.deepEqual(patched.data, { b: '2', c: '1' });

  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a', namespace } };
  const spec = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'none',
    resources: { requests: { storage: '1Gi' } },
  };
  await client.create({ ...claim, spec });
  const conditions = [{ type: 'Tested', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  const options = { fieldManager: 'status-writer', subresource: 'status' };
  const { status } = await client.apply({ ...claim, status: { conditions } }, options);
  assert.match(JSON.stringify(status), /"Tested"/);
});

test('a namespaced object without a namespace, and a name that climbs, are refused before they are sent', async () => {
  const client = testClient();
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' };
  assert.match((await errorOf(client.get(ref))).message, /needs a namespace/);
  for (const name of ['..', '.', '', 'a/b', 'a%2fb']) {
    assert.equal((await errorOf(client.get({ ...ref, namespace: 'default', name }))).code, 'KubeInvalid');
  }
});

test('a list is complete over many pages, and selectors narrow it', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const names = Array.from({ length: 25 }, (_, i) => `cm-${String(i).padStart(2, '0')}`);
  await Promise.all(
    names.map((name, i) => {
      const object = configMap(namespace, name);
      object.metadata.labels = { odd: String(i % 2) };
      return client.create(object);
    }),
  );
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace };
  const paged: number[] = [];
  const { resourceVersion } = await client.pages(
    { ...target, labelSelector: 'odd' },
    (items) => paged.push(items.length),
    { pageSize: 10 },
  );
  assert.deepEqual(paged, [10, 10, 5]);
  assert.match(resourceVersion, /^\d+$/);
  const { items } = await client.list(
    { ...target, labelSelector: 'odd=1', fieldSelector: 'metadata.name!=cm-01' },
    { pageSize: 4 },
  );
  assert.equal(items.length, 11);
  assert.ok(items.every((item) => item.kind === 'ConfigMap' && item.apiVersion === 'v1'));
  const light = await client.list({ ...target, labelSelector: 'odd', metadataOnly: true });
  assert.equal(light.items.length, 25);
  assert.deepEqual(Object.keys(light.items[0] ?? {}).sort(), ['apiVersion', 'kind', 'metadata']);
  assert.deepEqual(light.items[0]?.kind, 'ConfigMap');
});

test('acting as somebody else has that one’s rights, all groups counted', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const user = uniqueName('user');
  const groups = [uniqueName('first'), uniqueName('second')];
  await client.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'reader', namespace },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }],
  });
  await client.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'reader', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: groups[1] ?? '' }],
  });
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace };
  const stranger = client.as({ name: user, groups: groups.slice(0, 1) });
  const error = await errorOf(stranger.list(target));
  assert.equal(error.code, 'KubeForbidden');
  assert.match(error.message, new RegExp(`User "${user}" cannot list resource "configmaps"`));

  const member = client.as({ name: user, groups });
  // Who is bound to a role has it a moment later.
  const { resourceVersion } = await eventually(() => member.list(target));
  assert.equal((await errorOf(member.create(configMap(namespace, 'a')))).code, 'KubeForbidden');
  const lines: string[] = [];
  const controller = new AbortController();
  const watching = errorOf(
    member.watchOnce(target, {
      resourceVersion,
      signal: controller.signal,
      onLine(line) {
        // Every namespace gets a ConfigMap, some time after it was made.
        if (line.type !== 'ADDED' || line.object.metadata.name === 'kube-root-ca.crt') return;
        lines.push(line.object.metadata.name);
        controller.abort();
      },
    }),
  );
  await member.as(undefined).create(configMap(namespace, 'a'));
  assert.equal((await watching).code, 'Aborted');
  assert.ok(lines.includes('a'), 'a watch carries the groups too');
});

test('nobody hears the content of a Secret from an error', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const canary = 'c4n4ry-value';
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace }, data: { key: canary } };
  for (const broken of [
    secret,
    { ...secret, data: {}, type: 'kubernetes.io/tls', stringData: { 'bad key': canary } },
  ]) {
    const error = await errorOf(client.apply(broken, { fieldManager: 'test' }));
    const { message, data } = error;
    assert.ok(!JSON.stringify([message, data]).includes(canary), message);
    assert.match(message, /^apply Secret /);
  }
});

test('what an applied object has that its schema has not is told, and not sent again', async (t) => {
  const reports: RequestReport[] = [];
  const client = testClient({ onRequest: (report) => reports.push(report) });
  const metadata = { namespace: await testNamespace(t), name: 'a' };
  const data = { port: 80 };
  const pod = { containers: [{ name: 'a', image: 'a', resources: { limits: { cpu: 'lots' } } }] };
  for (const [object, said] of [
    [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }, /\.data\.port: expected string, got 80\. .*in quotes$/],
    [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, datta: {} }, /: \.datta: field not declared in schema$/],
    [{ apiVersion: 'v1', kind: 'Pod', metadata, spec: pod }, /: quantities must match the regular expression /],
    [
      { apiVersion: 'v1', kind: 'Secret', metadata, data: { a: 'ä' } },
      /: illegal base64 data at input byte 0\. .*stringData/,
    ],
    [{ apiVersion: 'v1', kind: 'Secret', metadata, stringData: data }, /: \.stringData\.port: expected string$/],
    [
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { type: [1] } },
      /: \.spec\.type: expected string, got a list$/,
    ],
  ] as const) {
    reports.length = 0;
    const error = await errorOf(client.apply(object as unknown as KubeObject, { fieldManager: 'test' }));
    assert.deepEqual([error.code, error.retry], ['KubeInvalid', false]);
    assert.match(error.message, said);
    assert.equal(reports.filter(({ verb }) => verb === 'apply').length, 1);
  }
});

test('warnings of the API server reach who asks for them', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const warnings: string[] = [];
  const object = { ...configMap(namespace, 'a'), unknownField: 1 };
  await client.create(object, { onWarning: (text) => warnings.push(text) });
  assert.deepEqual(warnings, ['unknown field "unknownField"']);
  assert.equal((await errorOf(client.create(object, { fieldValidation: 'Strict' }))).code, 'KubeInvalid');
});

test('a new kind is known as soon as its CRD is established, and unknown as soon as that is gone', async () => {
  const client = testClient();
  const group = `${uniqueName('g')}.example.com`;
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  const ref = { apiVersion: `${group}/v1`, kind: 'Thing', name: 'x' };
  assert.equal((await errorOf(client.get(ref))).code, 'KubeKindUnknown');
  await client.create(crd);
  await eventually(async () => assert.equal(await client.get(ref), undefined));
  await client.delete({ ...crd, name: crd.metadata.name });
  await eventually(async () => assert.equal((await errorOf(client.get(ref))).code, 'KubeKindUnknown'));
});

test('a guard that throws keeps writes from being sent, and lets reads and dry runs pass', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const lost = new EspalierError('LeaseLost', 'not the leader');
  const guarded = client.guarded(() => {
    throw lost;
  });
  assert.equal(await errorOf(guarded.create(configMap(namespace, 'a'))), lost);
  assert.equal(await errorOf(guarded.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' })), lost);
  await guarded.create(configMap(namespace, 'a'), { dryRun: true });
  assert.equal(await guarded.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' }), undefined);
});

test('a call that is aborted ends at once, also while it waits for its turn', async (t) => {
  const client = testClient({ limits: { inFlight: 1 } });
  const namespace = await testNamespace(t);
  const controller = new AbortController();
  const calls = Array.from({ length: 5 }, () =>
    errorOf(client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace }, { signal: controller.signal })),
  );
  controller.abort();
  for (const error of await Promise.all(calls)) assert.equal(error.code, 'Aborted');
});

test('the version of the API server is told', async () => {
  assert.match((await testClient().version()).gitVersion, /^v1\.\d+/);
});
