import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { API_VERSION, type KubeObject, LABEL, SYNC_MANAGER } from '../../src/api/index.ts';
import { installKinds } from '../api/install.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { espalier } from './support/espalier.ts';
import { COMMIT, createSync, ready } from './support/objects.ts';

before(() => installKinds(testClient()));

describe('espalier suspend and resume', { concurrency: 3 }, () => {
  test('set spec.suspend of a Sync, say what follows, and are no error the second time', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform', status: { ...ready('fine'), commit: COMMIT } });
    const suspended = await espalier(['suspend', 'sync', 'platform', '-n', namespace]);
    assert.deepEqual([suspended.code, suspended.stdout], [0, 'sync/platform suspended\n']);
    assert.match(suspended.stderr, new RegExp(`Undo: espalier resume sync/platform -n ${namespace}`));
    assert.equal(await suspendOf(namespace, 'Sync', 'platform'), true);
    const again = await espalier(['suspend', 'platform', '-n', namespace]);
    assert.deepEqual(again, { code: 0, stdout: 'sync/platform is suspended already\n', stderr: '' });
    const resumed = await espalier(['resume', 'platform', '-n', namespace]);
    assert.equal(resumed.stdout, 'sync/platform resumed\n');
    assert.match(resumed.stderr, /fetches https:\/\/git\.example\.com\/platform\.git .* since 7a2ad27f44\. Follow it:/);
    assert.equal(await suspendOf(namespace, 'Sync', 'platform'), false);
  });

  test('leave what a Sync declares of a Plugin untouched, so the Sync has nothing to put back', async (t) => {
    const namespace = await testNamespace(t);
    const before = await applyAsSync(namespace, {});
    assert.equal((await espalier(['suspend', 'plugin/web', '-n', namespace])).code, 0);
    assert.deepEqual(await syncFields(namespace), fieldsOf(before));
    assert.equal(await suspendOf(namespace, 'Plugin', 'web'), true);
    // The next commit leaves it suspended.
    await applyAsSync(namespace, { timeout: '7m' });
    assert.equal(await suspendOf(namespace, 'Plugin', 'web'), true);
    assert.equal((await espalier(['resume', 'plugin/web', '-n', namespace])).code, 0);
    assert.equal(await suspendOf(namespace, 'Plugin', 'web'), false);
  });

  test('refuse where Git declares it, and say where', async (t) => {
    const namespace = await testNamespace(t);
    await applyAsSync(namespace, { suspend: false });
    const { code, stderr } = await espalier(['suspend', 'plugin/web', '-n', namespace]);
    assert.equal(code, 2);
    assert.match(stderr, /declared with spec\.suspend in plugins\/web\.yaml:1, and Sync platform would put that back/);
    assert.equal(await suspendOf(namespace, 'Plugin', 'web'), false);
  });

  test('change nothing when one of several names is wrong', async (t) => {
    const namespace = await testNamespace(t);
    await applyAsSync(namespace, {});
    const { code, stderr } = await espalier(['suspend', 'plugin', 'web', 'wbe', '-n', namespace]);
    assert.equal(code, 2);
    assert.match(stderr, /no Plugin "wbe" in namespace ".*"; there are: web/);
    assert.equal(await suspendOf(namespace, 'Plugin', 'web'), false);
  });
});

async function suspendOf(namespace: string, kind: string, name: string): Promise<unknown> {
  const object = await testClient().get({ apiVersion: API_VERSION, kind, namespace, name });
  return (object?.spec as { suspend?: boolean } | undefined)?.suspend ?? false;
}

/** As a Sync writes a Plugin. */
function applyAsSync(namespace: string, spec: Record<string, unknown>): Promise<KubeObject> {
  const plugin = {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: {
      name: 'web',
      namespace,
      labels: { [LABEL.sync]: 'platform', [LABEL.syncNamespace]: namespace },
      annotations: { 'espalier.dev/origin': 'plugins/web.yaml:1' },
    },
    spec: { kind: 'manifests', source: { git: { path: 'web' } }, ...spec },
  };
  return testClient().apply(plugin, { fieldManager: SYNC_MANAGER, force: true });
}

async function syncFields(namespace: string): Promise<unknown> {
  const object = await testClient().get({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name: 'web' });
  assert.ok(object);
  return fieldsOf(object);
}

function fieldsOf(object: KubeObject): unknown {
  const entry = object.metadata.managedFields?.find(({ manager }) => manager === SYNC_MANAGER);
  assert.ok(entry?.fieldsV1);
  return entry.fieldsV1;
}
