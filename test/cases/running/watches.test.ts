import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION } from '../../../src/api/index.ts';
import { loadKubeconfig } from '../../../src/cluster/kubeconfig.ts';
import { configMap, declareTestSync, pluginYaml, startTestAgent, syncReaches } from '../../support/agent.ts';
import { testClient, testKubeconfig, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';
import { startProxied } from '../support/proxied.ts';

const A_MINUTE = { timeoutMs: 60_000 };
/** The lease of an agent that is cut off runs out meanwhile. */
const LONGER_THAN_A_LEASE_MS = 9_000;

/** A plugin of two objects, settled by an agent with this kubeconfig, and what people do behind the agent's back. */
async function settled(t: TestContext, kubeconfig?: string) {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: 'watches' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const files = { 'apps/a/edited.yaml': configMap('edited'), 'apps/a/deleted.yaml': configMap('deleted') };
  const first = await commitFiles(repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...files });
  await declareTestSync(client, { namespace, url: repository.url });
  const agent = await startTestAgent(t, { namespace, ...(kubeconfig === undefined ? {} : { kubeconfig }) });
  await syncReaches(client, namespace, 'Ready');
  const ref = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name });

  const deleted = (await client.get(ref('deleted')))?.metadata.uid;
  async function assertRestored(): Promise<void> {
    assert.deepEqual((await client.get(ref('edited')))?.data, { a: '1' });
    const uid = (await client.get(ref('deleted')))?.metadata.uid;
    assert.ok(uid !== undefined && uid !== deleted);
  }

  return {
    namespace,
    agent,
    /** The platform with one object more, on another branch. */
    more: () => commitFiles(repository, { 'apps/a/more.yaml': configMap('more') }, { branch: 'more', parent: first }),
    async tamper(): Promise<void> {
      const body = { data: { a: 'by hand' } };
      const edited = await client.patch(ref('edited'), body, { type: 'merge', fieldManager: 'somebody' });
      assert.deepEqual(edited.data, body.data);
      assert.equal(await client.delete(ref('deleted')), 'deleted');
    },
    async isRestored(): Promise<void> {
      await eventually(assertRestored, A_MINUTE);
      await syncReaches(client, namespace, 'Ready', A_MINUTE);
    },
  };
}

async function startTcpProxied(t: TestContext): Promise<{ proxy: TcpProxy; kubeconfig: string }> {
  const { server } = loadKubeconfig({ path: testKubeconfig() });
  const { hostname, port } = new URL(server);
  const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
  t.after(() => proxy.close());
  const kubeconfig = join(await tempDir(t), 'kubeconfig');
  const text = await readFile(testKubeconfig(), 'utf8');
  await writeFile(kubeconfig, text.replace(server, `https://127.0.0.1:${proxy.port}`));
  return { proxy, kubeconfig };
}

describe('R8 what happens while the watches are broken is noticed and put right within a minute', {
  concurrency: true,
}, () => {
  it('every connection is reset', async (t) => {
    const { proxy, kubeconfig } = await startTcpProxied(t);
    const { tamper, isRestored } = await settled(t, kubeconfig);
    proxy.drop();
    await tamper();
    await isRestored();
  });

  it('the API server is out of reach for a while', async (t) => {
    const { proxy, kubeconfig } = await startTcpProxied(t);
    const { tamper, isRestored } = await settled(t, kubeconfig);
    proxy.freeze({ new: true });
    await tamper();
    await delay(LONGER_THAN_A_LEASE_MS);
    proxy.drop();
    proxy.thaw();
    await isRestored();
  });

  it('connections are half-open: they look well, and nothing comes through', async (t) => {
    const { proxy, kubeconfig } = await startTcpProxied(t);
    const { tamper, isRestored } = await settled(t, kubeconfig);
    proxy.freeze();
    await tamper();
    await isRestored();
  });

  it('the position to go on from is gone (410)', async (t) => {
    const { agent, namespace, more, tamper, isRestored } = await settled(t);
    await agent.stop();
    const commit = await more();
    const sync = { apiVersion: API_VERSION, kind: 'Sync', namespace, name: 'sync' };
    const body = { spec: { repository: { ref: { branch: 'more' } } } };
    const missed = new Map([
      ['/configmaps?', tamper],
      ['/syncs?', async () => void (await testClient().patch(sync, body, { type: 'merge', fieldManager: 'somebody' }))],
    ]);
    const { proxy, kubeconfig } = await startProxied(t);
    // What comes between an agent's first list and its watch is in neither when the watch is refused.
    proxy.before = async ({ path }) => {
      const part = [...missed.keys()].find((one) => path.includes(one) && path.includes('watch='));
      const happen = missed.get(part ?? '');
      if (happen === undefined) return undefined;
      missed.delete(part ?? '');
      await happen();
      return { status: 410 };
    };
    await startTestAgent(t, { namespace, kubeconfig });
    await isRestored();
    await syncReaches(testClient(), namespace, 'Ready', { commit, ...A_MINUTE });
    assert.equal(missed.size, 0);
  });
});
