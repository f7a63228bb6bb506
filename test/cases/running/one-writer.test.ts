import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { configMap, declareTestSync, pluginYaml, startTestAgent, syncReaches } from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import { startProxied } from '../support/proxied.ts';

const OBJECTS = 80;
/** 15 s until the other one leads, then it fills its caches and finds what to write. */
const TAKEOVER_MS = 25_000;

interface Write {
  replica: string;
  at: number;
}

/** A replica whose writes are noted as they reach the API server, and that can be cut off. */
async function startReplica(t: TestContext, namespace: string, replica: string, log: Write[]) {
  const { proxy, kubeconfig } = await startProxied(t);
  let isCutOff = false;
  proxy.before = ({ mutation, path }) => {
    if (isCutOff) return 'hang';
    if (mutation > 0 && !path.includes('/leases')) log.push({ replica, at: Date.now() });
    return undefined;
  };
  const starting = startTestAgent(t, { namespace, kubeconfig });
  // It may never lead.
  starting.catch(() => undefined);
  return {
    starting,
    cutOff(value: boolean): void {
      isCutOff = value;
    },
  };
}

test('R10 a leader that is cut off stops writing before the other begins, and does not begin again when it is back', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: 'one-writer' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const names = Array.from({ length: OBJECTS }, (_, index) => `cm-${index}`);
  const files = Object.fromEntries(names.map((name) => [`apps/a/${name}.yaml`, configMap(name)]));
  await commitFiles(repository, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...files });
  await declareTestSync(client, { namespace, url: repository.url });
  const log: Write[] = [];
  const first = await startReplica(t, namespace, 'first', log);
  await first.starting;
  await syncReaches(client, namespace, 'Ready');
  await startReplica(t, namespace, 'second', log);

  // There is always something to write: somebody changes one object after the other.
  const ref = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name });
  const left = [...names];
  const tampering = (async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      await client.patch(ref(name), { data: { a: 'by hand' } }, { type: 'merge', fieldManager: 'somebody' });
      await delay(250);
    }
  })();
  await eventually(() => assert.ok(log.length > 0));
  await delay(1_000);
  first.cutOff(true);
  const cutOffAt = Date.now();
  await eventually(() => assert.ok(log.some(({ replica }) => replica === 'second')), { timeoutMs: 30_000 });
  const tookOver = (log.find(({ replica }) => replica === 'second')?.at ?? 0) - cutOffAt;
  first.cutOff(false);
  await tampering;
  await eventually(
    async () => {
      const { items } = await client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
      const wrong = items.filter(
        ({ metadata, data }) => names.includes(metadata.name) && (data as { a: string }).a !== '1',
      );
      assert.deepEqual(
        wrong.map(({ metadata }) => metadata.name),
        [],
      );
    },
    { timeoutMs: 30_000 },
  );

  t.diagnostic(`took over after ${tookOver} ms`);
  assert.ok(tookOver < TAKEOVER_MS, `took over after ${tookOver} ms`);
  const writers = log.map(({ replica }) => replica);
  const firstOfSecond = writers.indexOf('second');
  assert.ok(firstOfSecond > 0);
  assert.ok(!writers.slice(firstOfSecond).includes('first'), 'the first wrote again');
});
