import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  configMap,
  declareTestSync,
  getPlugin,
  pluginYaml,
  spawnTestAgent,
  startTestAgent,
  syncReaches,
} from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';

const TAKEOVER_MS = 15_000;

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

test('R10 of two replicas one writes; when it is killed the other one has taken over within 15 s', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await (await testGitServer(t)).createRepository('platform');
  await commitFiles(repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') });
  await declareTestSync(client, { namespace, url: repository.url, spec: { poll: '1s' } });
  const replicas = [
    spawnTestAgent(t, { namespace, cacheDir: await tempDir(t) }),
    spawnTestAgent(t, { namespace, cacheDir: await tempDir(t) }),
  ];
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

test('R11 told to stop in mid-apply, the agent exits within its grace period, and the next one goes on', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await (await testGitServer(t)).createRepository('platform');
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, index) => [`apps/many/cm-${index}.yaml`, configMap(`cm-${index}`)]),
  );
  await commitFiles(repository, { 'plugins/many.yaml': pluginYaml('many', 'apps/many'), ...many });
  await declareTestSync(client, { namespace, url: repository.url });
  const child = spawnTestAgent(t, { namespace, cacheDir: await tempDir(t) });
  await eventually(
    async () => assert.ok(((await getPlugin(client, namespace, 'many'))?.status?.inventory ?? []).length > 0),
    { timeoutMs: 30_000 },
  );
  const stopped = Date.now();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  // 2 s of grace, 2 s to unwind, and what a busy machine adds.
  assert.ok(Date.now() - stopped < 10_000, `took ${Date.now() - stopped} ms`);
  assert.equal(code, 0);
  await startTestAgent(t, { namespace });
  await syncReaches(client, namespace, 'Ready');
  const { items } = await client.list({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace,
    labelSelector: 'espalier.dev/plugin=many',
  });
  assert.equal(items.length, 400);
});

test('R9 a plugin whose rendering takes for ever holds up no other, and its child is killed at the deadline', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const repository = await (await testGitServer(t)).createRepository('platform');
  const slow = join(await tempDir(t), 'kustomize');
  const pidFile = `${slow}.pid`;
  await writeFile(slow, `#!/bin/sh\necho $$ > ${pidFile}\nexec /bin/sleep 3600\n`, { mode: 0o755 });
  process.env.ESPALIER_TOOL_KUSTOMIZE = slow;
  t.after(() => delete process.env.ESPALIER_TOOL_KUSTOMIZE);
  await commitFiles(repository, {
    'plugins/slow.yaml': pluginYaml('slow', 'apps/slow', { kind: 'kustomize', timeout: '2s' }),
    'apps/slow/kustomization.yaml': 'resources: [cm.yaml]\n',
    'apps/slow/cm.yaml': configMap('slow'),
    'plugins/quick.yaml': pluginYaml('quick', 'apps/quick'),
    'apps/quick/cm.yaml': configMap('quick'),
  });
  await declareTestSync(client, { namespace, url: repository.url });
  await startTestAgent(t, { namespace });
  await eventually(async () => assert.equal((await getPlugin(client, namespace, 'quick'))?.status?.phase, 'Ready'), {
    timeoutMs: 15_000,
  });
  const plugin = await eventually(
    async () => {
      const found = await getPlugin(client, namespace, 'slow');
      assert.equal(found?.status?.phase, 'Failed');
      return found;
    },
    { timeoutMs: 30_000 },
  );
  assert.match(plugin?.status?.message ?? '', /did not end within/);
  const pid = Number(await readFile(pidFile, 'utf8'));
  await eventually(() => assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }));
});
