import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ANNOTATION, API_VERSION } from '../../src/api/index.ts';
import { startPlatform } from '../cases/support/platform.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { type PackageWish, packageAt, removed } from './support/cluster-package.ts';
import { openGate, runOperatorOnce, theJob, watchGone, watchJobs } from './support/in-cluster.ts';

const HOOKS = ['pre-install', 'post-install', 'post-cluster-ready'] as const;
const ALLOWED = { expansions: { delegateConditions: ['EnsureKubelet'] } };

describe('an expansion package in the cluster', { concurrency: 2 }, () => {
  test('is installed in its order, moves to a new version with each hook once, and is taken away backwards', async (t) => {
    const name = uniqueName('demo');
    const wish: PackageWish = {
      ...{ name, charts: ['web', 'db'], hooks: HOOKS },
      fields: {
        operator: 'docker.io/demo/operator:v1',
        values: { web: { greeting: 'hello' }, global: { tier: 'gold' } },
        images: ['docker.io/demo/alpine:3.10'],
        create_cluster_delegate_conditions: ['EnsureKubelet'],
      },
    };
    const node = uniqueName('late');
    // Other tests have Nodes of their own on this control plane, and not all of them are ever ready.
    const nodes = { apiVersion: 'v1', kind: 'Node', all: true, labels: { scene: node } };
    const afterNodes = {
      target: { kind: 'Plugin', name: `${name}-post-cluster-ready` },
      merge: { spec: { dependsOn: [{ name: `${name}-post-install` }, nodes] } },
    };
    const declared = JSON.stringify({
      ...{ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name } },
      spec: { kind: 'expansion', source: { git: { path: 'packages/demo' } }, patches: [afterNodes] },
    });
    const platform = await startPlatform(t, {
      prefix: 'expansion',
      spec: { ...ALLOWED, images: { rewrite: [{ from: 'docker.io', to: 'harbor.local/docker' }] } },
      files: { ...packageAt('packages/demo', wish), 'plugins/demo.yaml': declared },
      prepare: async (client) => {
        const metadata = { name: node, labels: { scene: node } };
        t.after(() => client.delete({ apiVersion: 'v1', kind: 'Node', name: node }));
        await client.create({ apiVersion: 'v1', kind: 'Node', metadata, spec: { unschedulable: true } });
      },
    });
    const { client } = platform;
    const jobs = watchJobs(t, platform);

    await platform.pluginSays(
      `${name}-web`,
      new RegExp(`waiting for operator ${name}-operator to set EnsureKubelet on ConfigMap \\S*${name}-delegated-v1.0`),
    );
    assert.equal(await platform.get('ConfigMap', `${name}-web`), undefined, 'nothing of a chart is there before');
    const job = await theJob(platform, `${name}-pre-install-v1-0`);
    assert.equal(job.metadata.annotations?.[ANNOTATION.once], `${name}-v1.0`);
    assert.match(JSON.stringify(job.spec), /"serviceAccountName":"demo-\w+-pre-install"/);
    const script = await platform.get('ConfigMap', `${name}-pre-install-v1-0`);
    assert.deepEqual(script?.data, { 'pre-install': '#!/bin/sh\necho pre-install v1.0\n' });
    const operator = await platform.get('Deployment', `${name}-operator`, 'apps/v1');
    assert.match(JSON.stringify(operator?.spec), /"image":"harbor.local\/docker\/demo\/operator:v1"/);
    assert.match(JSON.stringify(operator?.spec), new RegExp(`"name":"ESPALIER_EXPANSION","value":"${name}"`));

    await openGate(platform, `${name}-delegated-v1.0`, 'EnsureKubelet');
    await platform.pluginReaches(`${name}-post-install`, 'Ready');
    await platform.pluginSays(`${name}-post-cluster-ready`, new RegExp(`all Nodes with scene=${node}: .*${node}`));
    assert.deepEqual((await platform.get('ConfigMap', `${name}-web`))?.data, {
      greeting: 'hello',
      global: '{"tier":"gold"}',
    });
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' };
    await client.patch(
      { apiVersion: 'v1', kind: 'Node', name: node },
      { status: { conditions: [ready] } },
      { type: 'merge', subresource: 'status' },
    );
    await platform.settles();
    const first = HOOKS.map((hook) => `${name}-${hook}-v1-0`);
    assert.deepEqual(jobs.begun(), first);

    await platform.push({ 'other/readme.txt': 'no part of it' });
    await platform.settles();
    assert.deepEqual(jobs.begun(), first, 'a commit beside it runs no hook');

    const instance = { apiVersion: API_VERSION, kind: 'ExtensionInstance' };
    const install = (of: string, spec: Record<string, unknown>) =>
      client.apply(
        { ...instance, metadata: { name: of, namespace: platform.namespace }, spec },
        { fieldManager: 'somebody' },
      );
    await install('pinned', { extension: `${name}-db`, version: '0.1.0' });
    await platform.pluginReaches('pinned', 'Ready');

    await platform.push({
      ...removed(packageAt('packages/demo', wish)),
      ...packageAt('packages/demo', { ...wish, version: 'v1.1', charts: ['web', 'db@0.2.0'] }),
    });
    await platform.pluginSays(`${name}-db`, /delegated-v1.1/);
    assert.equal((await platform.plugin(`${name}-db`))?.status?.revision?.version, '0.1.0');
    await runOperatorOnce(platform, { expansion: name, version: 'v1.1' }, 'EnsureKubelet');
    await platform.settles();
    assert.equal((await platform.plugin(`${name}-db`))?.status?.revision?.version, '0.2.0');
    assert.deepEqual(jobs.begun(), [...first, ...HOOKS.map((hook) => `${name}-${hook}-v1-1`)]);
    await platform.isGone('ConfigMap', `${name}-delegated-v1.0`);

    await install('second', { extension: `${name}-web`, parameters: { greeting: 'again' } });
    await platform.pluginReaches('second', 'Ready');
    assert.match(JSON.stringify((await platform.get('ConfigMap', 'second'))?.data), /again/);
    await client.delete(platform.ref('ConfigMap', 'pinned'));
    await eventually(async () => assert.equal(await platform.exists('pinned'), true, 'its chart is in Git no more'));
    await platform.pluginReaches('pinned', 'Ready');
    for (const one of ['second', 'pinned']) await client.delete(platform.ref('ExtensionInstance', one, API_VERSION));
    for (const one of ['second', 'pinned']) await platform.isGone('Plugin', one, API_VERSION);

    const gone = watchGone(t, platform);
    const files = packageAt('packages/demo', { ...wish, version: 'v1.1', charts: ['web', 'db@0.2.0'] });
    await platform.approve(
      await platform.push({ ...removed(files), 'plugins/demo.yaml': null, 'other/readme.txt': 'left' }),
    );
    await platform.settles();
    const order = gone();
    const at = (part: string): number => order.indexOf(`${name}-${part}`);
    await eventually(() => assert.equal(order.length, 7, order.join(' ')));
    for (const [later, earlier] of [
      ['pre-install', 'operator'],
      ['operator', 'web'],
      ['web', 'post-install'],
      ['post-install', 'post-cluster-ready'],
    ] as const)
      assert.ok(at(earlier) < at(later), `${earlier} goes before ${later}: ${order.join(' ')}`);
    assert.equal(await client.get({ apiVersion: API_VERSION, kind: 'Extension', name: `${name}-web` }), undefined);
  });
});
