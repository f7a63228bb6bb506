import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isError, type KubeObject } from '../../src/api/index.ts';
import type { KubeClient, ListTarget } from '../../src/cluster/client.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig.ts';
import { watchObjects } from '../../src/cluster/watch.ts';
import { testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { type HttpProxy, startHttpProxy } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcpproxy.ts';
import { startWatch } from './watchlog.ts';

/** All ConfigMaps of the namespace but the one that every namespace gets. */
function configMaps(namespace: string): ListTarget {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
}

function configMap(namespace: string, name: string, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } };
}

/** Between the pings, two of which in a row have to fail: a server that is slow for a second is alive. */
const PING_MS = 1_000;

async function throughTcp(t: TestContext, pingMs = PING_MS): Promise<{ proxy: TcpProxy; client: KubeClient }> {
  const config = loadKubeconfig({ path: testKubeconfig() });
  const { hostname, port } = new URL(config.server);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  const client = testClient({ kubeconfig: { ...config, server: `https://127.0.0.1:${proxy.port}` }, pingMs });
  t.after(() => proxy.close());
  return { proxy, client };
}

async function throughHttp(t: TestContext): Promise<{ proxy: HttpProxy; client: KubeClient }> {
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
  t.after(() => proxy.close());
  return { proxy, client: testClient({ kubeconfig: { text: proxy.kubeconfig } }) };
}

describe('watches', { concurrency: 6 }, () => {
  test('a watch tells what exists, what comes, changes and goes', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    await client.create(configMap(namespace, 'a'));
    const { watch, events, objects, syncs } = startWatch(t, client, configMaps(namespace));
    await watch.synced;
    assert.deepEqual(syncs, [[`${namespace}/a`]]);
    await client.create(configMap(namespace, 'b'));
    await client.patch({ ...configMap(namespace, 'a'), namespace, name: 'a' }, { data: { x: 'y' } }, { type: 'merge' });
    await client.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'b' });
    await eventually(() => assert.deepEqual(events, ['added a', 'added b', 'modified a', 'deleted b']));
    assert.deepEqual(objects[2]?.data, { x: 'y' });
    await watch.stop();
    await client.create(configMap(namespace, 'c'));
    await always(() => assert.equal(events.length, 4), { forMs: 200 });
  });

  test('an object that leaves the selector is deleted for the watch', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    const { watch, events } = startWatch(t, client, { ...configMaps(namespace), labelSelector: 'watched=yes' });
    await watch.synced;
    await client.create(configMap(namespace, 'other', { watched: 'no' }));
    const { metadata } = await client.create(configMap(namespace, 'a', { watched: 'yes' }));
    await client.update({
      ...configMap(namespace, 'a', { watched: 'no' }),
      metadata: { ...metadata, labels: { watched: 'no' } },
    });
    await eventually(() => assert.deepEqual(events, ['added a', 'deleted a']));
  });

  test('a watch of metadata alone gets no more than that', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    const { watch, objects } = startWatch(t, client, { ...configMaps(namespace), metadataOnly: true });
    await watch.synced;
    await client.create({ ...configMap(namespace, 'a'), data: { big: 'x'.repeat(1_000) } });
    await eventually(() => assert.deepEqual(Object.keys(objects[0] ?? {}).sort(), ['apiVersion', 'kind', 'metadata']));
    assert.equal(objects[0]?.kind, 'ConfigMap');
  });

  test('connections that are dropped again and again lose no change and repeat none', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughTcp(t);
    const { watch, events, syncs } = startWatch(t, client, configMaps(namespace));
    await watch.synced;
    const direct = testClient();
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      await direct.create(configMap(namespace, name));
      await eventually(() => assert.ok(events.includes(`added ${name}`)));
      proxy.drop();
      await direct.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name });
    }
    await eventually(() => assert.equal(events.length, 6));
    assert.deepEqual(
      events,
      names.flatMap((name) => [`added ${name}`, `deleted ${name}`]),
    );
    assert.equal(syncs.length, 1, 'it went on where it was, without listing again');
  });

  test('a half-open connection is noticed by pings, and the watch goes on over another', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughTcp(t);
    const { watch, events, errors } = startWatch(t, client, configMaps(namespace));
    await watch.synced;
    // A quiet watch on a good connection stays.
    await always(() => assert.deepEqual(errors, []), { forMs: 4 * PING_MS });
    proxy.freeze();
    await testClient().create(configMap(namespace, 'a'));
    await eventually(() => assert.deepEqual(events, ['added a']), { timeoutMs: 15_000 });
  });

  test('idle connections that died with one that was noticed cost no request its deadline', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughTcp(t);
    const look = (options = {}) => client.list(configMaps(namespace), options);
    await Promise.all(Array.from({ length: 8 }, () => look()));
    const { events, errors } = startWatch(t, client, configMaps(namespace));
    const noticed: Record<string, () => Promise<void>> = {
      'by-a-request': () => assert.rejects(look({ deadlineMs: 300 }), (error) => isError(error, 'KubeTimedOut')),
      'by-pings': () => eventually(() => assert.ok(errors.length > 0)),
    };
    for (const [name, notice] of Object.entries(noticed)) {
      // The watch has a connection that is there to die.
      await testClient().create(configMap(namespace, name));
      await eventually(() => assert.ok(events.includes(`added ${name}`)));
      errors.length = 0;
      proxy.freeze();
      await notice();
      const started = performance.now();
      for (let count = 0; count < 8; count++) await look();
      // One request's deadline is 40 s.
      assert.ok(performance.now() - started < 30_000);
    }
  });

  test('without HTTP/2 a half-open connection is noticed when the stream outlives its time', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughHttp(t);
    const tcp = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(proxy.url).port) });
    t.after(() => tcp.close());
    const config = loadKubeconfig({ text: proxy.kubeconfig });
    const behind = testClient({ kubeconfig: { ...config, server: `http://127.0.0.1:${tcp.port}` } });
    const { watch, events } = startWatch(t, behind, configMaps(namespace), { idleMs: 500 });
    await watch.synced;
    await eventually(() =>
      assert.ok(proxy.requests.some(({ path }) => /watch=1.*timeoutSeconds=(3\d|40)\b/.test(path))),
    );
    tcp.freeze();
    await client.create(configMap(namespace, 'a'));
    await eventually(() => assert.deepEqual(events, ['added a']), { timeoutMs: 15_000 });
  });

  for (const [title, fault] of [
    ['an answer', { status: 410 }],
    [
      'an event in the stream',
      { status: 200, body: '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n' },
    ],
  ] as const) {
    test(`a position that has expired, told by ${title}, leads to a new list that finds what was missed`, async (t) => {
      const namespace = await testNamespace(t);
      const { proxy, client } = await throughHttp(t);
      const direct = testClient();
      await direct.create(configMap(namespace, 'a'));
      const { uid } = await direct.create(configMap(namespace, 'b')).then(({ metadata }) => metadata);
      // The server holds this stream for a second only; then it is gone.
      const { watch, events, objects, errors, syncs } = startWatch(t, client, configMaps(namespace), {
        timeoutSeconds: 1,
      });
      await watch.synced;
      proxy.before = ({ path }) => (path.includes('watch=1') ? fault : undefined);
      await eventually(() => assert.ok(errors.includes('KubeGone')));
      proxy.before = undefined;
      await direct.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'b' });
      await direct.create(configMap(namespace, 'c'));
      await eventually(() => assert.deepEqual([...events].sort(), ['added a', 'added b', 'added c', 'deleted b']));
      assert.ok(syncs.length >= 2);
      assert.equal(objects.find((_, index) => events[index] === 'deleted b')?.metadata.uid, uid);
    });
  }

  test('an API server that refuses for a while is not hammered', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughHttp(t);
    const { watch, events } = startWatch(t, client, configMaps(namespace), { timeoutSeconds: 1 });
    await watch.synced;
    let refused = 0;
    proxy.before = ({ path }) => {
      if (!path.includes('watch=1')) return undefined;
      refused++;
      return { status: 500 };
    };
    await eventually(() => assert.ok(refused > 0));
    await always(() => assert.ok(refused <= 5, `${refused} tries`), { forMs: 1_000 });
    proxy.before = undefined;
    await testClient().create(configMap(namespace, 'a'));
    await eventually(() => assert.deepEqual(events, ['added a']));
  });

  test('a truncated or nonsensical stream is an error that is survived', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughHttp(t);
    const { watch, events, errors } = startWatch(t, client, configMaps(namespace), { timeoutSeconds: 1 });
    await watch.synced;
    const faults = [
      { status: 200, body: '<html>\n' },
      { status: 200, body: '{"type":"ADDED"}\n' },
      'truncate' as const,
    ];
    proxy.before = ({ path }) => (path.includes('watch=1') ? faults.shift() : undefined);
    await testClient().create(configMap(namespace, 'a'));
    await eventually(() => assert.deepEqual(events, ['added a']));
    assert.ok(errors.filter((code) => code === 'KubeBadAnswer').length >= 2, String(errors));
  });

  test('a watch waits for a kind that is not served yet, and tells when all of it goes', async (t) => {
    const client = testClient();
    const group = `${uniqueName('g')}.example.com`;
    const { watch, events, errors, syncs } = startWatch(t, client, { apiVersion: `${group}/v1`, kind: 'Thing' });
    await watch.synced;
    assert.deepEqual(syncs[0], []);
    assert.ok(errors.every((code) => code === 'KubeKindUnknown'));
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
    await client.create(crd);
    await eventually(() => client.create({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } }));
    watch.wake();
    await eventually(() => assert.deepEqual(events, ['added a']));
    await client.delete({ ...crd, name: crd.metadata.name });
    await eventually(() => assert.deepEqual(events, ['added a', 'deleted a']));
  });

  test('a handler that throws is reported and stops nothing', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    const seen: string[] = [];
    const errors: string[] = [];
    const watch = watchObjects(client, configMaps(namespace), {
      onEvent(_, { metadata }) {
        seen.push(metadata.name);
        throw new Error('oops');
      },
      onError: ({ message }) => errors.push(message),
    });
    t.after(() => watch.stop());
    await watch.synced;
    for (const name of ['a', 'b']) await client.create(configMap(namespace, name));
    await eventually(() => assert.deepEqual(seen, ['a', 'b']));
    assert.match(errors[0] ?? '', /handler for ConfigMap failed: oops/);
  });

  test('a watch that is stopped before its first list says so, and ends at once', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughHttp(t);
    proxy.before = () => 'hang';
    const controller = new AbortController();
    const watch = watchObjects(client, configMaps(namespace), { onEvent() {} }, { signal: controller.signal });
    controller.abort();
    await assert.rejects(watch.synced, (error) => isError(error, 'Aborted'));
    await watch.stop();
  });

  test('two hundred watches share a few connections and leave requests alone', async (t) => {
    const namespace = await testNamespace(t);
    const { proxy, client } = await throughTcp(t, 5_000);
    const target = configMaps(namespace);
    const logs = Array.from({ length: 200 }, () => startWatch(t, client, target));
    await Promise.all(logs.map(({ watch }) => watch.synced));
    await eventually(async () => {
      const started = performance.now();
      await Promise.all(
        Array.from({ length: 20 }, () => client.get({ ...configMap(namespace, 'x'), namespace, name: 'x' })),
      );
      assert.ok(performance.now() - started < 1_000, 'requests are answered');
    });
    await client.create(configMap(namespace, 'a'));
    await eventually(() => assert.ok(logs.every(({ events }) => events.length === 1)));
    // 64 for requests, and 200 streams on connections of 80.
    assert.ok(proxy.open <= 67, `${proxy.open} connections`);
  });
});
