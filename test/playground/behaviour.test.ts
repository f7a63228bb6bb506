import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../src/api/index.ts';
import { createClient } from '../../src/cluster/client.ts';
import { kubectl, testClient, testNamespace, testUser } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';

const POD = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'example.com/web:1' }] },
};

test('a Deployment becomes available and its pods run on the nodes', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  await client.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: POD },
  });

  await eventually(async () => {
    const found = await client.get({ apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'web' });
    assert.equal(field(found, 'status', 'availableReplicas'), 3);
  });
  const pods = await client.list({ apiVersion: 'v1', kind: 'Pod', namespace });
  assert.equal(pods.items.length, 3);
  for (const pod of pods.items) assert.match(String(field(pod, 'spec', 'nodeName')), /^node-/);
});

test('a Job finishes', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  await client.create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'once', namespace },
    spec: { template: { ...POD, spec: { ...POD.spec, restartPolicy: 'Never' } } },
  });

  await eventually(async () => {
    const found = await client.get({ apiVersion: 'batch/v1', kind: 'Job', namespace, name: 'once' });
    assert.equal(field(found, 'status', 'succeeded'), 1);
  });
});

test('a pod can be told by its labels to fail, or never to become ready, and has logs', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const pod = async (name: string, labels: Record<string, string>, annotations: Record<string, string> = {}) =>
    client.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels, annotations },
      spec: POD.spec,
    });
  const failing = 'pod-container-running-failed.stage.kwok.x-k8s.io';
  await pod('failing', { [failing]: 'true' }, { [`${failing}/delay`]: '10ms', [`${failing}/jitter-delay`]: '20ms' });
  await pod('unready', { 'playground.espalier.dev/unready': 'true' });

  const statusOf = async (name: string) =>
    (await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name }))?.status;
  await eventually(async () => assert.match(JSON.stringify(await statusOf('failing')), /"phase":"Failed"/));
  await eventually(async () => assert.match(JSON.stringify(await statusOf('unready')), /"phase":"Running"/));
  assert.match(await kubectl('logs', 'failing', '-n', namespace, '--tail=2'), /^step \d+ of \d+: done\nthat is all\n$/);
  await always(async () => assert.match(JSON.stringify(await statusOf('unready')), /ContainersNotReady/), {
    forMs: 500,
  });
});

test('an object goes when its owner does', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const configMap = (name: string): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
  });
  const owner = await client.create(configMap('owner'));
  const owned = configMap('owned');
  owned.metadata.ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid ?? '' },
  ];
  await client.create(owned);

  await client.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'owner' });
  await eventually(async () => {
    assert.equal(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'owned' }), undefined);
  });
});

test('a namespace is deleted with everything in it', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  await client.create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace }, spec: POD.spec });
  await eventually(async () => {
    const pod = await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'web' });
    assert.equal(field(pod, 'status', 'phase'), 'Running');
  });

  await client.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
  await eventually(
    async () => assert.equal(await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }), undefined),
    { timeoutMs: 30_000 },
  );
});

test('a namespace gets the service account and the cluster certificate that pods expect', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  await eventually(async () => {
    assert.ok(await client.get({ apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: 'default' }));
    const root = await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'kube-root-ca.crt' });
    assert.match(String(field(root, 'data', 'ca.crt')), /BEGIN CERTIFICATE/);
  });
});

test('PodSecurity refuses a privileged pod where the namespace asks for the restricted profile', async (t) => {
  const client = testClient();
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespace = await testNamespace(t, { labels });
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bad', namespace }, spec: POD.spec };
  await assert.rejects(client.create(pod), /PodSecurity|restricted/);
});

test('RBAC holds for users: nothing without a binding, then what the binding gives', async (t) => {
  const admin = testClient();
  const namespace = await testNamespace(t);
  const name = uniqueName('user');
  const client = createClient({ kubeconfig: await testUser({ name, groups: ['testers'] }) });
  t.after(() => client.close());
  const pods = { apiVersion: 'v1', kind: 'Pod', namespace };
  await assert.rejects(client.list(pods), { code: 'KubeForbidden' });

  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'viewer', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  });
  await eventually(async () => assert.deepEqual((await client.list(pods)).items, []));
});

test('a service account can be given a token that the API server accepts', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  await client.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace } });
  const post = async (
    path: string,
    body: object,
  ): Promise<{ status: { token?: string; user?: { username: string } } }> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await client.raw({ method: 'POST', path, headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 201);
    return JSON.parse(answer.body);
  };
  const api = { apiVersion: 'authentication.k8s.io/v1' };
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/robot/token`;
  const { token } = (await post(account, { ...api, kind: 'TokenRequest', spec: {} })).status;
  const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  const { user } = (await post(reviews, { ...api, kind: 'TokenReview', spec: { token } })).status;
  assert.equal(user?.username, `system:serviceaccount:${namespace}:robot`);
});

function field(object: KubeObject | undefined, ...path: string[]): unknown {
  let value: unknown = object;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}
