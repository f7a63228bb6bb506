import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { isError, type KubeObject, refOf } from '../../src/api/index.ts';
import { createClient, type KubeClient } from '../../src/cluster/client.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig.ts';
import { testKubeconfig } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { buildKustomization, writeOverlay } from './rendered.ts';

const namespace = uniqueName('espalier-system');
const suffix = `-${namespace}`;
const client = createClient({ kubeconfig: testKubeconfig() });
let objects: KubeObject[] = [];

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
  after(() => rm(folder, { recursive: true, force: true }));
  objects = await buildKustomization(await writeOverlay(folder, namespace));
  for (const object of objects) await client.apply(object, { fieldManager: 'test', force: true });
});

// The kinds stay: other tests of this run use them too.
after(async () => {
  const ours = objects.filter(
    ({ kind, metadata }) => kind !== 'CustomResourceDefinition' && metadata.namespace === undefined,
  );
  for (const object of ours) await client.delete(refOf(object));
  await client.close();
});

function find(kind: string, name: string): KubeObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
}

interface Access {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

async function may(account: string, access: Access): Promise<boolean> {
  const user = { name: `system:serviceaccount:${namespace}:${account}${suffix}` };
  const answer = await client.as(user).raw({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: access },
    }),
  });
  assert.equal(answer.status, 201, answer.body);
  return JSON.parse(answer.body).status.allowed;
}

test('the agent’s pod is admitted under the restricted profile and runs', async () => {
  const live = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace });
  assert.equal(live?.metadata.labels?.['pod-security.kubernetes.io/enforce'], 'restricted');
  await eventually(
    async () => {
      const { items } = await client.list({ apiVersion: 'v1', kind: 'Pod', namespace });
      assert.deepEqual(
        items.map(({ status }) => (status as { phase: string }).phase),
        ['Running'],
      );
    },
    { timeoutMs: 30_000 },
  );
  await eventually(async () => {
    const deployment = await client.get(refOf(find('Deployment', `espalier${suffix}`)));
    const { availableReplicas } = (deployment?.status ?? {}) as { availableReplicas?: number };
    assert.equal(availableReplicas, 1);
  });
});

test('a pod that asks for the host’s network is refused beside it', async () => {
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'greedy', namespace },
    spec: { hostNetwork: true, containers: [{ name: 'a', image: 'a' }] },
  };
  await assert.rejects(
    client.create(pod, { dryRun: true }),
    (error) => isError(error) && /PodSecurity "restricted/.test(error.message),
  );
});

test('what is applied again changes nothing', async () => {
  for (const object of objects) {
    const live = await client.get(refOf(object));
    const again = await client.apply(object, { fieldManager: 'test', force: true, dryRun: true });
    assert.equal(again.metadata.generation, live?.metadata.generation, object.kind);
  }
});

const allowed: [title: string, access: Access][] = [
  [
    'writes the Plugins that a Sync declares',
    { verb: 'patch', group: 'espalier.dev', resource: 'plugins', namespace: 'elsewhere' },
  ],
  [
    'writes the status of a Sync',
    { verb: 'patch', group: 'espalier.dev', resource: 'syncs', subresource: 'status', namespace: 'elsewhere' },
  ],
  ['watches kinds that it never heard of', { verb: 'watch', group: 'example.com', resource: 'widgets' }],
  [
    'answers the Plugins of KubeGems',
    { verb: 'patch', group: 'plugins.kubegems.io', resource: 'plugins', subresource: 'status', namespace: 'elsewhere' },
  ],
  ['serves their kind', { verb: 'create', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }],
  ['reads credentials', { verb: 'get', resource: 'secrets', namespace: 'elsewhere' }],
  ['reads what a failed Job said', { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'elsewhere' }],
  [
    'tells what it did in events',
    { verb: 'create', group: 'events.k8s.io', resource: 'events', namespace: 'elsewhere' },
  ],
  ['holds its lease', { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace }],
  ['makes the record of intents', { verb: 'create', resource: 'configmaps', namespace }],
  ['keeps the record of intents', { verb: 'update', resource: 'configmaps', namespace, name: 'espalier-intents' }],
  [
    'acts as an account beside it',
    { verb: 'impersonate', resource: 'serviceaccounts', namespace, name: 'platform-admin' },
  ],
];

for (const [title, access] of allowed) {
  // The API server's authorizer hears of a new role a moment after it was made.
  test(`the agent ${title}`, () => eventually(async () => assert.ok(await may('espalier', access))));
}

const denied: [title: string, access: Access][] = [
  ['write what a Plugin installs', { verb: 'create', group: 'apps', resource: 'deployments', namespace: 'elsewhere' }],
  ['delete a namespace', { verb: 'delete', resource: 'namespaces', name: 'elsewhere' }],
  [
    "change somebody else's definition",
    { verb: 'patch', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', name: 'a.example.com' },
  ],
  [
    'delete a Plugin of KubeGems',
    { verb: 'delete', group: 'plugins.kubegems.io', resource: 'plugins', namespace: 'elsewhere' },
  ],
  ['grant rights', { verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' }],
  [
    'act as an account elsewhere',
    { verb: 'impersonate', resource: 'serviceaccounts', namespace: 'kube-system', name: 'default' },
  ],
  ['act as a person', { verb: 'impersonate', resource: 'users', name: 'admin' }],
  ['run commands in a pod', { verb: 'get', resource: 'pods', subresource: 'exec', namespace: 'elsewhere' }],
  ['run commands through a node', { verb: 'get', resource: 'nodes', subresource: 'proxy' }],
  ['change a ConfigMap of others', { verb: 'update', resource: 'configmaps', namespace, name: 'kube-root-ca.crt' }],
  ['change a secret', { verb: 'update', resource: 'secrets', namespace: 'elsewhere' }],
  [
    'hold a lease elsewhere',
    { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-system' },
  ],
];

for (const [title, access] of denied) {
  test(`the agent may not ${title}`, async () => assert.ok(!(await may('espalier', access))));
}

test('the platform’s account may install anything', async () => {
  await eventually(async () => assert.ok(await may('platform-admin', { verb: '*', group: '*', resource: '*' })));
});

/** A client that is the agent: with a token of its service account, as its pod gets one. */
async function asAgent(t: Pick<TestContext, 'after'>): Promise<KubeClient> {
  const { status, body } = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/espalier${suffix}/token`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
  });
  assert.equal(status, 201, body);
  const { server, ca } = loadKubeconfig({ path: testKubeconfig() });
  const kubeconfig = { server, ...(ca === undefined ? {} : { ca }), user: { token: JSON.parse(body).status.token } };
  const agent = createClient({ kubeconfig });
  t.after(() => agent.close());
  return agent;
}

test('the agent installs with the rights of the platform’s account, and not with its own', async (t) => {
  const agent = await asAgent(t);
  const role: KubeObject = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: uniqueName('widgets') },
    rules: [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['*'] }],
  };
  const options = { fieldManager: 'espalier', dryRun: true };
  await assert.rejects(agent.apply(role, options), (error) => isError(error, 'KubeForbidden'));
  const account = `system:serviceaccount:${namespace}:platform-admin${suffix}`;
  const made = await agent.as({ name: account }).apply(role, options);
  assert.equal(made.metadata.name, role.metadata.name);
  const elsewhere = agent.as({ name: 'system:serviceaccount:kube-system:namespace-controller' });
  await assert.rejects(elsewhere.apply(role, options), (error) => isError(error, 'KubeForbidden'));
});
