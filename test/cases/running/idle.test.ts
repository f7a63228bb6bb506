import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pino } from 'pino';
import { createCharts } from '../../../src/charts/charts.ts';
import { createClient } from '../../../src/cluster/client.ts';
import { agentIdentity } from '../../../src/reconcile/identity.ts';
import type { Metrics } from '../../../src/reconcile/metrics.ts';
import { runTerm } from '../../../src/reconcile/term.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { configMap, declareTestSync, pluginYaml, syncReaches } from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import type { HttpProxy } from '../../support/httpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';
import { startProxied } from '../support/proxied.ts';
import { startReplay } from '../support/replay.ts';

const PLUGINS = 5;

/** What an agent runs while it leads, whose cycles a test can count; everything is installed and settled. */
async function startSettled(t: TestContext, options: { fullLookEveryMs: number }) {
  const namespace = await testNamespace(t, { prefix: 'idle' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const names = Array.from({ length: PLUGINS }, (_, index) => `p${index}`);
  await commitFiles(
    repository,
    Object.fromEntries(
      names.flatMap((name) => [
        [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)],
        [`apps/${name}/a.yaml`, configMap(`${name}-a`)],
        [`apps/${name}/b.yaml`, configMap(`${name}-b`)],
      ]),
    ),
  );
  const git = await startReplay(t, repository.url);
  await declareTestSync(testClient(), { namespace, url: git.url });
  const { proxy, kubeconfig } = await startProxied(t);
  const client = createClient({ kubeconfig });
  const stop = new AbortController();
  const counted: Record<string, number> = {};
  const count = (what: string): void => {
    counted[what] = (counted[what] ?? 0) + 1;
  };
  const metrics: Metrics = {
    answered: () => undefined,
    reconciled: (kind, outcome) => count(`${kind} ${outcome}`),
    rendered: () => count('rendered'),
    fetched: (outcome) => count(`Git ${outcome}`),
    repaired: () => count('repaired'),
  };
  const term = runTerm({
    client,
    clock: systemClock,
    random: Math.random,
    log: pino({ level: 'silent' }),
    metrics,
    dir: join(await tempDir(t), 'git'),
    instance: 'idle',
    namespace,
    urlPolicy: { http: true, privateAddresses: true },
    pageUrl: undefined,
    onlyNamespace: namespace,
    isAgent: agentIdentity(namespace),
    concurrency: 8,
    renderers: 2,
    charts: createCharts({ cacheDir: await tempDir(t) }),
    fullLookEveryMs: options.fullLookEveryMs,
    graceMs: 1_000,
    signal: stop.signal,
  });
  t.after(async () => {
    stop.abort();
    await term.ended;
    await client.close();
  });
  await syncReaches(testClient(), namespace, 'Ready');
  await rest(proxy);
  const { plugin, sync } = term.queues;
  // Plugins always have their next full look before them: what is delayed of theirs does not count.
  const isIdle = (): boolean => plugin.depth + plugin.running + sync.depth + sync.running + sync.delayed === 0;

  return {
    proxy,
    counted,
    /** Polls Git, and looks at the Sync and at every Plugin, once. */
    async cycle(): Promise<void> {
      const done = (counted['Plugin success'] ?? 0) + PLUGINS;
      term.parts.wakeSync(`${namespace}/sync`, { poll: true });
      for (const name of names) term.parts.wakePlugin(`${namespace}/${name}`);
      while ((counted['Plugin success'] ?? 0) < done || !isIdle())
        await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Events follow what they tell of after a moment. */
async function rest(proxy: HttpProxy): Promise<void> {
  await eventually(async () => {
    const before = proxy.mutations;
    await delay(500);
    assert.equal(proxy.mutations, before);
    assert.ok(proxy.requests.every(({ mutation, status }) => mutation === 0 || status !== 0));
  });
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function heapUsed(): Promise<number> {
  // Twice, with a pause: finalizers and closed sockets give up their part after a turn.
  for (let round = 0; round < 2; round++) {
    collectGarbage();
    await delay(20);
  }
  return process.memoryUsage().heapUsed;
}

test('R6 a thousand idle cycles write nothing, render nothing, and leave memory where it was', async (t) => {
  const { proxy, counted, cycle } = await startSettled(t, { fullLookEveryMs: 6 * 3_600_000 });
  for (let n = 0; n < 200; n++) await cycle();
  proxy.reset();
  const [rendered, polled] = [counted.rendered, counted['Git unchanged'] ?? 0];
  const heap: number[] = [];
  for (let n = 0; n < 1_000; n++) {
    if (n % 250 === 0) heap.push(await heapUsed());
    await cycle();
  }
  heap.push(await heapUsed());
  assert.equal(proxy.mutations, 0);
  const asked = proxy.requests.filter(({ path }) => !path.includes('watch='));
  assert.deepEqual(asked, [], 'the API server is not even asked');
  assert.equal(counted.rendered, rendered);
  assert.equal((counted['Git unchanged'] ?? 0) - polled, 1_000);
  assert.equal(counted['Plugin failure'], undefined);
  t.diagnostic(`heap in KiB: ${heap.map((bytes) => Math.round(bytes / 1024)).join(', ')}`);
  const [, early = 0, , , late = 0] = heap;
  assert.ok(late - early < 1024 * 1024, `the heap grew by ${late - early} bytes`);
});

test('R6 nor is anything written by looks that compare every object with the cluster', async (t) => {
  const { proxy } = await startSettled(t, { fullLookEveryMs: 200 });
  proxy.reset();
  const reads = () => proxy.requests.filter(({ method, path }) => method === 'GET' && path.includes('/configmaps/'));
  await eventually(() => assert.ok(reads().length >= 20 * PLUGINS), { timeoutMs: 30_000 });
  const written = proxy.requests.filter(({ mutation }) => mutation > 0);
  assert.deepEqual(written, []);
});
