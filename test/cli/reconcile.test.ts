import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ANNOTATION, API_VERSION, type KubeObject, type ObjectRef, refOf } from '../../src/api/index.ts';
import { installKinds } from '../api/install.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { espalier, startEspalier } from './support/espalier.ts';
import { COMMIT, conditions, createPlugin, createSync, ready, setStatus } from './support/objects.ts';

before(() => installKinds(testClient()));

describe('espalier reconcile', { concurrency: 3 }, () => {
  test('asks, tells what happens on stderr, and ends well when the agent has answered and it is ready', async (t) => {
    const namespace = await testNamespace(t);
    const sync = await createSync({ namespace, name: 'platform', status: { ...ready('as before'), commit: COMMIT } });
    const { output, ended } = startEspalier(t, ['reconcile', 'sync', 'platform', '-n', namespace]);
    const lastHandledReconcileAt = await askedAt(sync);
    assert.equal(new Date(lastHandledReconcileAt).toISOString(), lastHandledReconcileAt);
    const notReady = conditions({ Ready: 'False' });
    await setStatus(sync, {
      lastHandledReconcileAt,
      phase: 'Progressing',
      message: '1 waiting: web',
      conditions: notReady,
    });
    await eventually(() => assert.match(output.stderr, /^sync\/platform: Progressing: 1 waiting: web$/m), {
      timeoutMs: 20_000,
    });
    await setStatus(sync, ready('2 plugins ready at 7a2ad27f44'));
    const { code, stdout, stderr } = await ended;
    assert.deepEqual([code, stdout], [0, 'sync/platform is ready: 2 plugins ready at 7a2ad27f44\n']);
    assert.match(stderr, /^sync\/platform: asked the agent to fetch from Git and apply what is new\n/);
    const managers = (await live(sync)).metadata.managedFields?.map(({ manager }) => manager);
    assert.ok(managers?.includes('espalier-cli'));
  });

  test('ends with 1 and the reason when it failed, though others are ready', async (t) => {
    const namespace = await testNamespace(t);
    const web = await createPlugin({ namespace, name: 'web' });
    const dns = await createPlugin({ namespace, name: 'dns' });
    const ended = espalier(['reconcile', 'plugin/web', 'plugin/dns', '-n', namespace]);
    await setStatus(web, {
      lastHandledReconcileAt: await askedAt(web),
      observedGeneration: 1,
      ...ready('1 object healthy'),
    });
    const failed = {
      phase: 'Failed',
      message: 'Deployment web: no such image',
      conditions: conditions({ Ready: 'False' }),
    };
    await setStatus(dns, { lastHandledReconcileAt: await askedAt(dns), observedGeneration: 1, ...failed });
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 1);
    assert.equal(stdout, 'plugin/web is ready: 1 object healthy\n');
    assert.match(stderr, /^espalier: plugin\/dns: Failed: Deployment web: no such image$/m);
  });

  test('without an agent it ends at the deadline, and says where to look', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform' });
    const { code, stderr } = await espalier(['reconcile', 'sync/platform', '-n', namespace, '--timeout', '300ms']);
    assert.equal(code, 1);
    assert.match(stderr, /not ready within 300ms: the agent has not answered .*is it running\? See "kubectl/);
  });

  test('ends with 1 when the object is deleted meanwhile', async (t) => {
    const namespace = await testNamespace(t);
    const web = await createPlugin({ namespace, name: 'web' });
    const ended = espalier(['reconcile', 'plugin/web', '-n', namespace]);
    await askedAt(web);
    await testClient().delete(refOf(web));
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.match(stderr, /plugin\/web was deleted/);
  });

  test('--no-wait asks and leaves', async (t) => {
    const namespace = await testNamespace(t);
    const web = await createPlugin({ namespace, name: 'web' });
    const { code } = await espalier(['reconcile', 'web', '-n', namespace, '--no-wait']);
    assert.equal(code, 0);
    await askedAt(web);
  });

  test('a suspended one is refused with the command that comes first', async (t) => {
    const namespace = await testNamespace(t);
    const sync = await createSync({ namespace, name: 'platform', spec: { suspend: true } });
    const { code, stderr } = await espalier(['reconcile', 'sync/platform', '-n', namespace]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`first: espalier resume sync/platform -n ${namespace}`));
    assert.equal((await live(sync)).metadata.annotations?.[ANNOTATION.reconcileAt], undefined);
  });

  test('a bare name that a Sync and a Plugin share is refused', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'web' });
    await createPlugin({ namespace, name: 'web' });
    const { code, stderr } = await espalier(['reconcile', 'web', '-n', namespace]);
    assert.equal(code, 64);
    assert.match(stderr, /say sync\/web or plugin\/web/);
  });
});

async function askedAt(object: KubeObject): Promise<string> {
  return await eventually(
    async () => {
      const value = (await live(object)).metadata.annotations?.[ANNOTATION.reconcileAt];
      assert.ok(value);
      return value;
    },
    { timeoutMs: 20_000 },
  );
}

async function live({ kind, metadata: { name, namespace = '' } }: KubeObject): Promise<KubeObject> {
  const ref: ObjectRef = { apiVersion: API_VERSION, kind, name, namespace };
  const object = await testClient().get(ref);
  assert.ok(object);
  return object;
}
