import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { test } from 'node:test';
import { configMap, declareTestSync, pluginYaml, spawnTestAgent, syncReaches } from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';
import { startProxied } from '../support/proxied.ts';

/** The 10 s of the lease, a second until the next look at it, and what a busy machine adds. */
const TAKEOVER_MS = 20_000;

async function leaderOf(namespace: string): Promise<{ holder: string; since: number }> {
  const lease = await testClient().get({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    namespace,
    name: 'espalier-agent',
  });
  const spec = (lease?.spec ?? {}) as { holderIdentity?: string; acquireTime?: string };
  return { holder: spec.holderIdentity ?? '', since: Date.parse(spec.acquireTime ?? '') };
}

function isLeader(child: ChildProcess, holder: string): boolean {
  return holder.includes(`-${child.pid}-`);
}

test('R10 of two replicas one writes; when it is killed the other one takes over once its lease has run out', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await (await testGitServer(t)).createRepository('platform');
  await commitFiles(repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') });
  await declareTestSync(client, { namespace, url: repository.url, spec: { poll: '1s' } });
  const replicas: ChildProcess[] = [];
  for (let number = 0; number < 2; number++) {
    const { proxy, kubeconfig } = await startProxied(t);
    replicas.push(spawnTestAgent(t, { namespace, kubeconfig, cacheDir: await tempDir(t) }));
    // It has looked at the lease, so it is running and not just starting.
    await eventually(() => assert.ok(proxy.requests.some(({ path }) => path.includes('/leases/'))));
  }
  await syncReaches(client, namespace, 'Ready');
  const { holder } = await leaderOf(namespace);
  const leader = replicas.find((child) => isLeader(child, holder));
  const other = replicas.find((child) => child !== leader);
  assert.ok(leader !== undefined && other !== undefined, `the lease is held by ${holder}`);

  leader.kill('SIGKILL');
  const killed = Date.now();
  const commit = await commitFiles(repository, { 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
  await syncReaches(client, namespace, 'Ready', { commit, timeoutMs: 30_000 });
  const now = await leaderOf(namespace);
  assert.ok(isLeader(other, now.holder));
  const taken = now.since - killed;
  assert.ok(taken < TAKEOVER_MS, `took over after ${taken} ms`);
});
