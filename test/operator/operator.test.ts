import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import {
  delegationName,
  delegationRecord,
  isError,
  type KubeObject,
  type ObjectRef,
  operatorRules,
  type PolicyRule,
} from '../../src/api/index.ts';
import { createClient, type KubeClient } from '../../src/cluster/client.ts';
import { delegated, runOperator } from '../../src/operator/operator.ts';
import { type Scene, startScene } from '../reconcile/scene.ts';
import { configMap, getPlugin, pluginReaches, pluginYaml } from '../support/agent.ts';
import { testClient } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { startHttpProxy } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { testAccount } from './account.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'operator', 'operator.ts');
const BY = 'operator demo-operator';
const FIRST = delegationName('demo', 'v1.0');
const SECOND = delegationName('demo', 'v1.1');

/** What its own work needs, beside what the agent gives: the example writes one ConfigMap. */
const OWN_WORK: PolicyRule[] = [
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
  settingsRule('patch'),
];

function settingsRule(verb: string): PolicyRule {
  return { apiGroups: [''], resources: ['configmaps'], resourceNames: ['kubelet-settings'], verbs: [verb] };
}

/** As the agent applies it for one version of the package. */
function record(name: string, on?: ObjectRef): string {
  const place = { apiVersion: 'v1', kind: 'ConfigMap', name };
  const conditions = ['EnsureKubelet', 'EnsureNobody'];
  return JSON.stringify(
    delegationRecord({ expansion: 'demo', record: place, conditions, ...(on === undefined ? {} : { on }) }),
  );
}

function gate(object: Omit<ObjectRef, 'namespace'>, condition: string) {
  return { gates: [{ ...object, condition, by: BY, timeout: '10m' }] };
}

function onRecord(name: string, condition: string) {
  return gate({ apiVersion: 'v1', kind: 'ConfigMap', name }, condition);
}

async function waitsFor({ client, namespace }: Scene, plugin: string, text: RegExp): Promise<void> {
  await eventually(async () => assert.match((await getPlugin(client, namespace, plugin))?.status?.message ?? '', text));
}

describe('an operator', { concurrency: 2 }, () => {
  test('written with the SDK opens gates, through failures, kills and outages, with no rights but those it needs', async (t) => {
    const scene = await startScene(t, {
      files: {
        'plugins/record.yaml': pluginYaml('record', 'apps/record'),
        'apps/record/record.yaml': record(FIRST),
        'plugins/demo.yaml': pluginYaml('demo', 'apps/demo', onRecord(FIRST, 'EnsureKubelet')),
        'plugins/never.yaml': pluginYaml('never', 'apps/demo', onRecord(FIRST, 'EnsureNobody')),
        'apps/demo/cm.yaml': configMap('demo'),
      },
      until: 'Progressing',
    });
    const { client, namespace } = scene;
    await waitsFor(
      scene,
      'demo',
      /^waiting for operator demo-operator to set EnsureKubelet on ConfigMap demo-delegated-v1.0 \(until .*Z\)$/,
    );

    const rules = [FIRST, SECOND].flatMap((name) => operatorRules(name).own);
    const kubeconfig = await testAccount(t, namespace, 'demo-operator', [...rules, ...OWN_WORK]);
    const proxy = await startHttpProxy({ kubeconfig });
    const operator = await operatorProcess(t, namespace, proxy.kubeconfig);
    t.after(() => proxy.close());

    operator.start('v1.0');
    const says = 'waiting for ConfigMap demo-delegated-v1.0: operator demo-operator says';
    await waitsFor(
      scene,
      'demo',
      new RegExp(`^${says} EnsureKubelet is not ready: ConfigMap kubelet-wishes does not exist: say maxPods in it \\(`),
    );
    await waitsFor(
      scene,
      'never',
      new RegExp(`^${says} EnsureNobody is not ready: the operator does not know it; it has EnsureKubelet \\(`),
    );

    // Killed in mid-work: the write that it has begun never arrives.
    const isAtWork = Promise.withResolvers<void>();
    proxy.before = ({ method, path }) => {
      if (method !== 'PATCH' || !path.includes('/kubelet-settings')) return undefined;
      isAtWork.resolve();
      return 'hang';
    };
    await client.create(wishes(namespace, '250'));
    await isAtWork.promise;
    await operator.kill('SIGKILL');
    proxy.before = undefined;
    await waitsFor(scene, 'demo', /writing the settings for 250 pods a node/);
    assert.equal(await client.get(scene.ref('ConfigMap', 'kubelet-settings')), undefined);
    operator.start('v1.0');
    await pluginReaches(client, namespace, 'demo', 'Ready');
    assert.match(String(settingsOf(await scene.get('ConfigMap', 'kubelet-settings'))), /"maxPods":250/);

    // The agent leaves what it reported alone.
    const kept = await pluginReaches(client, namespace, 'record', 'Ready');
    assert.equal(kept.status?.drift, undefined);

    // An API server that is away: what ceases to be true is made true again afterwards.
    proxy.before = () => 'reset';
    await client.patch(scene.ref('ConfigMap', FIRST), { data: { EnsureKubelet: 'False' } }, { type: 'merge' });
    await eventually(() => assert.match(operator.output(), /EnsureKubelet failed \(1 in a row\)/));
    proxy.before = undefined;
    await eventually(async () => assert.match(reportOf(await scene.get('ConfigMap', FIRST)), /"status":"True"/));

    // A new version of the package has a new record: its operator affirms everything anew, and the old one does not.
    await scene.push({
      'apps/record/record.yaml': record(SECOND),
      'plugins/demo.yaml': pluginYaml('demo', 'apps/demo', onRecord(SECOND, 'EnsureKubelet')),
      'apps/demo/cm.yaml': configMap('demo', { a: '2' }),
    });
    await waitsFor(
      scene,
      'demo',
      /^waiting for operator demo-operator to set EnsureKubelet on ConfigMap demo-delegated-v1.1 /,
    );
    await eventually(() => scene.get('ConfigMap', SECOND));
    await always(async () => assert.equal((await scene.get('ConfigMap', SECOND)).data, undefined));
    assert.equal(await operator.kill('SIGTERM'), 0);
    operator.start('v1.1');
    await pluginReaches(client, namespace, 'demo', 'Ready');
    const { metadata } = await scene.get('ConfigMap', 'kubelet-settings');
    assert.equal(metadata.annotations?.['example.com/written-for'], SECOND);
    assert.equal(await operator.kill('SIGTERM'), 0);
  });

  test('reports on a custom object where its package says so, and leaves the conditions of others alone', async (t) => {
    const group = `${uniqueName('operator')}.example.com`;
    t.after(() => testClient().delete(crdRef(group)));
    await testClient().create(definition(group));
    const cluster = { apiVersion: `${group}/v1`, kind: 'Cluster', name: 'global' };
    const scene = await startScene(t, {
      files: {
        'plugins/demo.yaml': pluginYaml('demo', 'apps/demo', gate(cluster, 'EnsureKubelet')),
        'apps/demo/cm.yaml': configMap('demo'),
      },
      until: 'Progressing',
    });
    const { client, namespace } = scene;
    const on = { ...cluster, namespace };
    const other = { type: 'Ready', status: 'False', reason: 'Other', message: 'm', custom: 'kept' };
    await client.create(inNamespace(namespace, JSON.parse(record(FIRST, on))));
    const rules = operatorRules(FIRST, { group, plural: 'clusters', name: 'global' });
    const kubeconfig = await testAccount(t, namespace, 'demo-operator', [...rules.own, ...rules.object]);
    const operator = createClient({ kubeconfig });
    t.after(() => operator.close());
    const stop = new AbortController();
    const options = { client: operator, expansion: 'demo', namespace };
    const runs = { now: 0, atOnce: 0 };
    const handler = async (): Promise<string> => {
      runs.atOnce = Math.max(runs.atOnce, ++runs.now);
      // Somebody else writes beside it all the while.
      for (let step = 0; step < 5; step++) await annotate(client, on, `${step}`);
      runs.now--;
      return 'all is set';
    };
    const running = runOperator({ EnsureKubelet: handler }, { ...options, signal: stop.signal, log: () => undefined });
    await client.create({ ...crdObject(on), status: {} });
    await client.patch(on, { status: { conditions: [other] } }, { type: 'merge', subresource: 'status' });
    await pluginReaches(client, namespace, 'demo', 'Ready');
    const conditions = conditionsOf(await client.get(on));
    const own = conditions.find(({ type }) => type === 'EnsureKubelet');
    assert.deepEqual(conditions[0], other);
    assert.deepEqual([own?.status, own?.reason, own?.message], ['True', 'Done', 'all is set']);
    const known = (await delegated(options)).find(({ condition }) => condition === 'EnsureKubelet');
    assert.deepEqual([known?.condition, known?.on, known?.reported?.status], ['EnsureKubelet', on, 'True']);
    await mayOnlyReport(operator, scene, on);
    stop.abort();
    await running;
    assert.equal(runs.atOnce, 1);
  });
});

async function mayOnlyReport(operator: KubeClient, { namespace }: Scene, on: ObjectRef): Promise<void> {
  const forbidden = (error: unknown): boolean => isError(error, 'KubeForbidden');
  const record = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: FIRST };
  for (const ref of [record, on])
    await assert.rejects(operator.patch(ref, { metadata: { labels: { a: 'b' } } }, { type: 'merge' }), forbidden);
}

/** The example as a process of its own, that logs in as its service account. */
async function operatorProcess(t: Pick<TestContext, 'after'>, namespace: string, kubeconfig: string) {
  const path = join(await tempDir(t), 'kubeconfig');
  await writeFile(path, kubeconfig);
  let child: ChildProcess | undefined;
  let output = '';
  t.after(() => child?.kill('SIGKILL'));
  return {
    output: () => output,
    start(version: string): void {
      const env = {
        PATH: process.env.PATH,
        KUBECONFIG: path,
        ESPALIER_EXPANSION: 'demo',
        ESPALIER_EXPANSION_VERSION: version,
        ESPALIER_NAMESPACE: namespace,
      };
      child = spawn(process.execPath, [EXAMPLE], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
    },
    async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
      if (child === undefined) throw new Error('it was not started');
      const exit = once(child, 'exit');
      child.kill(signal);
      const [code] = (await exit) as [number | null];
      return code;
    },
  };
}

function wishes(namespace: string, maxPods: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kubelet-wishes', namespace }, data: { maxPods } };
}

function settingsOf({ data }: KubeObject): unknown {
  return (data as Record<string, string>)['kubelet.yaml'];
}

function reportOf({ data }: KubeObject): string {
  return (data as Record<string, string>).EnsureKubelet ?? '';
}

function conditionsOf(object: KubeObject | undefined): Record<string, string>[] {
  return (object?.status as { conditions?: Record<string, string>[] } | undefined)?.conditions ?? [];
}

async function annotate(client: KubeClient, ref: ObjectRef, text: string): Promise<void> {
  await client.patch(ref, { metadata: { annotations: { 'example.com/step': text } } }, { type: 'merge' });
}

function crdRef(group: string): ObjectRef {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: `clusters.${group}` };
}

function crdObject({ apiVersion, kind, name, namespace = '' }: ObjectRef): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace } };
}

function definition(group: string): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const { name, ...ref } = crdRef(group);
  return {
    ...ref,
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'clusters', singular: 'cluster', kind: 'Cluster', listKind: 'ClusterList' },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}

function inNamespace(namespace: string, object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}
