import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type ErrorCode, isError, type KubeObject } from '../../src/api/index.ts';
import type { KubeClient, RequestReport } from '../../src/cluster/client.ts';
import { testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { type Fault, type HttpProxy, startHttpProxy } from '../support/httpproxy.ts';

interface Faulty {
  client: KubeClient;
  proxy: HttpProxy;
  namespace: string;
  reports: RequestReport[];
}

async function faulty(t: TestContext, options: { tls?: boolean } = {}): Promise<Faulty> {
  const namespace = await testNamespace(t);
  const proxy = await startHttpProxy({ kubeconfig: testKubeconfig(), tls: options.tls ?? false });
  const reports: RequestReport[] = [];
  const client = testClient({
    kubeconfig: { text: proxy.kubeconfig },
    onRequest: (report) => reports.push(report),
    random: () => 0,
  });
  t.after(() => proxy.close());
  // What is served is known from here on: the tests count what comes after.
  await client.resource('v1', 'ConfigMap');
  return { client, proxy, namespace, reports };
}

/** Injects these faults into the requests that come first. */
function failFirst(...faults: (Fault | undefined)[]): () => Fault | undefined {
  return () => faults.shift();
}

function configMap(namespace: string, name = 'a'): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { a: '1' } };
}

const code = (wanted: ErrorCode) => (error: unknown) => isError(error, wanted);

describe('an API server with faults', { concurrency: 6 }, () => {
  for (const fault of [
    { status: 429, headers: { 'retry-after': '0' } },
    { status: 500 },
    { status: 503 },
    { status: 504 },
    'reset',
    'truncate',
  ] as const) {
    const name = typeof fault === 'string' ? fault : String(fault.status);
    test(`reads, applies and deletes get over a ${name}`, async (t) => {
      const { client, proxy, namespace } = await faulty(t);
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' };
      proxy.before = failFirst(fault);
      const { metadata } = await client.apply(configMap(namespace), { fieldManager: 'test' });
      proxy.before = failFirst(fault);
      assert.ok(await client.get(ref));
      proxy.before = failFirst(fault);
      assert.equal(await client.delete(ref, { uid: metadata.uid ?? '' }), 'deleted');
    });
  }

  test('a create is not repeated when nobody knows whether it happened', async (t) => {
    const { client, proxy, namespace } = await faulty(t);
    proxy.after = failFirst('reset');
    await assert.rejects(client.create(configMap(namespace)), code('KubeUnreachable'));
    assert.equal(proxy.mutations, 1);
    assert.ok(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' }), 'it had happened');
  });

  test('a create that the server has not taken up is repeated', async (t) => {
    const { client, proxy, namespace } = await faulty(t);
    proxy.before = failFirst({ status: 429 }, { status: 503, headers: { 'retry-after': '0' } });
    await client.create(configMap(namespace));
    assert.equal(proxy.mutations, 3);
  });

  test('tries end, and the error says what the server said', async (t) => {
    const { client, proxy, namespace, reports } = await faulty(t);
    proxy.before = () => ({ status: 500 });
    reports.length = 0;
    await assert.rejects(
      client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace }),
      (error) => isError(error, 'KubeServerError') && /list ConfigMap in .*: injected 500/.test(error.message),
    );
    assert.deepEqual(
      reports.map(({ verb, kind, status, attempt }) => [verb, kind, status, attempt]),
      [1, 2, 3, 4].map((attempt) => ['list', 'ConfigMap', 500, attempt]),
    );
  });

  test('a server that asks for a long wait is left to the caller at once, with the time', async (t) => {
    const { client, proxy, namespace } = await faulty(t);
    proxy.before = () => ({ status: 429, headers: { 'retry-after': '120' } });
    await assert.rejects(
      client.apply(configMap(namespace), { fieldManager: 'test' }),
      (error) => isError(error, 'KubeThrottled') && error.retryAfterMs === 120_000,
    );
    assert.equal(proxy.mutations, 1);
  });

  for (const [title, answer] of [
    ['a 404 of a proxy', { status: 404, body: '<html>not found</html>', headers: { 'content-type': 'text/html' } }],
    ['a 404 for the path', { status: 404, body: '{"kind":"Status","reason":"NotFound","details":{},"code":404}' }],
    [
      'a 404 of another object',
      {
        status: 404,
        body: '{"kind":"Status","reason":"NotFound","details":{"name":"b","kind":"configmaps"},"code":404}',
      },
    ],
    [
      'a 404 of the namespace',
      {
        status: 404,
        body: '{"kind":"Status","reason":"NotFound","details":{"name":"a","kind":"namespaces"},"code":404}',
      },
    ],
    ['a login page', { status: 200, body: '<html>log in</html>', headers: { 'content-type': 'text/html' } }],
    ['an empty answer', { status: 200, body: '' }],
    ['a redirect', { status: 302, body: '', headers: { location: 'https://login.example.com' } }],
  ] as const) {
    test(`${title} is an error, never an absence`, async (t) => {
      const { client, proxy, namespace } = await faulty(t);
      proxy.before = ({ path }) => (path.includes('/configmaps') ? answer : undefined);
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' };
      await assert.rejects(client.get(ref));
      await assert.rejects(client.delete(ref));
      await assert.rejects(client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace }));
    });
  }

  test('discovery that fails is an error, never an unknown kind', async (t) => {
    const { client, proxy } = await faulty(t);
    for (const fault of [{ status: 500 }, { status: 403 }, { status: 200, body: '<html>' }, 'truncate'] as const) {
      proxy.before = ({ path }) => (path.startsWith('/apis') ? fault : undefined);
      await assert.rejects(
        client.get({ apiVersion: 'nobody.example.com/v1', kind: 'Thing', name: 'x' }),
        (error) => isError(error) && error.code !== 'KubeKindUnknown',
      );
    }
  });

  test('a continuation that expires begins the list again, and the list is whole', async (t) => {
    const { client, proxy, namespace } = await faulty(t);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await client.create(configMap(namespace, name));
    let expired = 0;
    proxy.before = ({ path }) => (path.includes('continue=') && expired++ === 0 ? { status: 410 } : undefined);
    const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
    const { items } = await client.list(target, { pageSize: 2 });
    assert.deepEqual(
      items.map((item) => item.metadata.name),
      names,
    );
  });

  test('a request that hangs ends at its deadline', async (t) => {
    const { client, proxy, namespace } = await faulty(t);
    proxy.before = () => 'hang';
    const started = performance.now();
    await assert.rejects(
      client.apply(configMap(namespace), { fieldManager: 'test', deadlineMs: 300 }),
      code('KubeTimedOut'),
    );
    const ms = performance.now() - started;
    // Of its own: what holds where none is given is 40 s.
    assert.ok(ms >= 290 && ms < 15_000, `${ms} ms`);
  });

  test('a token that is refused is read again, once', async (t) => {
    const { client, proxy, namespace } = await faulty(t);
    proxy.before = failFirst({ status: 401 });
    await client.create(configMap(namespace));
    proxy.before = () => ({ status: 401 });
    proxy.reset();
    await assert.rejects(
      client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' }),
      code('KubeUnauthorized'),
    );
    assert.equal(proxy.requests.length, 2);
  });

  test('a server that is not there is told with its address', async () => {
    const client = testClient({
      kubeconfig: { server: 'https://127.0.0.1:1', user: { token: 'x' } },
      random: () => 0,
    });
    await assert.rejects(
      client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'a' }),
      (error) => isError(error, 'KubeUnreachable') && error.message.includes('https://127.0.0.1:1'),
    );
  });

  test('a server whose certificate nobody vouches for is refused, and says what to check', async () => {
    const { server } = testClient();
    const client = testClient({ kubeconfig: { server, user: { token: 'x' } }, random: () => 0 });
    await assert.rejects(
      client.version(),
      (error) => isError(error, 'KubeUnreachable') && /check certificate-authority/.test(error.message),
    );
  });

  test('everything works over TLS without HTTP/2 too', async (t) => {
    const { client, namespace } = await faulty(t, { tls: true });
    await client.apply(configMap(namespace), { fieldManager: 'test' });
    assert.ok(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' }));
  });
});
