import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { createCredentials } from '../../src/cluster/credentials.ts';
import { loadKubeconfig } from '../../src/cluster/kubeconfig.ts';
import { testClient, testKubeconfig, testNamespace, testUser } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { startWatch } from './watchlog.ts';

const configMaps = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default' };

test('a client certificate logs in', async () => {
  const name = uniqueName('user');
  const client = testClient({ kubeconfig: await testUser({ name, groups: [] }) });
  await assert.rejects(
    client.list(configMaps),
    (error) => isError(error, 'KubeForbidden') && error.message.includes(`User "${name}"`),
  );
});

test('a token that was exchanged is picked up by the next request', async (t) => {
  const config = loadKubeconfig({ path: testKubeconfig() });
  const authorization = await createCredentials(config, { allowExec: false }).authorization();
  const tokenFile = join(await tempDir(t), 'token');
  await writeFile(tokenFile, 'not-a-token');
  const client = testClient({ kubeconfig: { ...config, user: { tokenFile } } });
  await assert.rejects(client.list(configMaps), (error) => isError(error, 'KubeUnauthorized'));
  await writeFile(tokenFile, (authorization ?? '').replace('Bearer ', ''));
  await client.list(configMaps);
});

test('the kubeconfig’s own impersonation counts for everything', async () => {
  const config = loadKubeconfig({ path: testKubeconfig() });
  const impersonate = { name: 'jane', groups: ['system:authenticated', 'nobody'] };
  const client = testClient({ kubeconfig: { ...config, user: { ...config.user, impersonate } } });
  await assert.rejects(
    client.list(configMaps),
    (error) => isError(error, 'KubeForbidden') && error.message.includes('User "jane"'),
  );
});

/** A proxy that knows CONNECT alone. */
async function connectProxy(t: TestContext): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_, answer) => answer.writeHead(405).end());
  server.on('connect', (request, near: Socket) => {
    asked.push(request.url ?? '');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const far = connect(Number(port), host, () => {
      near.write('HTTP/1.1 200 OK\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, asked };
}

test('requests and watches go through the proxy that the kubeconfig names', async (t) => {
  const namespace = await testNamespace(t);
  const proxy = await connectProxy(t);
  const config = loadKubeconfig({ path: testKubeconfig() });
  const client = testClient({ kubeconfig: { ...config, proxyUrl: proxy.url } });
  const { watch, events } = startWatch(t, client, { ...configMaps, namespace, labelSelector: 'test=proxy' });
  await watch.synced;
  const metadata = { name: 'a', namespace, labels: { test: 'proxy' } };
  await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  await eventually(() => assert.deepEqual(events, ['added a']));
  assert.ok(proxy.asked.length > 0 && proxy.asked.every((target) => target === new URL(config.server).host));
});

test('a server that answers to another name is accepted when the kubeconfig says which', async () => {
  const config = loadKubeconfig({ path: testKubeconfig() });
  const client = testClient({ kubeconfig: { ...config, serverName: 'kubernetes.default.svc' } });
  await client.version();
  const wrong = testClient({ kubeconfig: { ...config, serverName: 'other.example.com' }, random: () => 0 });
  await assert.rejects(
    wrong.version(),
    (error) => isError(error, 'KubeUnreachable') && /set tls-server-name/.test(error.message),
  );
});
