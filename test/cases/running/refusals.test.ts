import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  configMap,
  declareTestSync,
  pluginReaches,
  pluginYaml,
  startTestAgent,
  syncReaches,
} from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import type { Fault, HttpProxy, SeenRequest } from '../../support/httpproxy.ts';
import { startProxied } from '../support/proxied.ts';

const FILES = {
  'plugins/a.yaml': pluginYaml('a', 'apps/a'),
  'apps/a/one.yaml': configMap('one'),
  'apps/a/two.yaml': configMap('two'),
  'plugins/b.yaml': pluginYaml('b', 'apps/b', { dependsOn: [{ name: 'a' }] }),
  'apps/b/three.yaml': configMap('three'),
  'plugins/c.yaml': pluginYaml('c', 'apps/c'),
  'apps/c/four.yaml': configMap('four'),
};

const REFUSALS: [string, Fault][] = [
  ['409', { status: 409 }],
  ['429 with Retry-After', { status: 429, headers: { 'retry-after': '1' } }],
  ['500', { status: 500 }],
  ['504', { status: 504 }],
];

/** An agent behind a proxy, with a fault from the start or none. */
async function start(t: TestContext, fault?: HttpProxy['before']) {
  const namespace = await testNamespace(t, { prefix: 'refusals' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const { proxy, kubeconfig } = await startProxied(t);
  const first = await commitFiles(repository, FILES);
  await declareTestSync(testClient(), { namespace, url: repository.url, spec: { prune: { hold: { percent: 100 } } } });
  proxy.before = fault;
  const agent = await startTestAgent(t, { namespace, kubeconfig });
  return {
    namespace,
    proxy,
    first,
    push: async (files: Record<string, string | null>) => {
      const commit = await commitFiles(repository, files);
      agent.lookNow();
      return commit;
    },
  };
}

const PATIENCE = { timeoutMs: 60_000 };

/** Refuses each write once. `after`: the API server has carried it out all the same. */
function refuseEachOnce(fault: Fault): HttpProxy['before'] {
  const refused = new Set<string>();
  return ({ method, path, mutation }) => {
    const what = `${method} ${path.replace(/\?.*/, '')}`;
    if (mutation === 0 || refused.has(what)) return undefined;
    refused.add(what);
    return fault;
  };
}

const isOf =
  (method: string, part: string) =>
  (request: SeenRequest): boolean =>
    request.method === method && request.path.includes(part);

/** How often it was tried in that time; at least a second try is waited for, however busy the machine is. */
async function triesWithin(ms: number, count: () => number): Promise<number> {
  await eventually(() => assert.ok(count() > 0, 'it was not tried'), PATIENCE);
  await delay(ms);
  const tries = count();
  await eventually(() => assert.ok(count() > 1, 'it was not tried again'), PATIENCE);
  return tries;
}

describe('R7 the API server refuses', { concurrency: 4 }, () => {
  for (const [what, fault] of REFUSALS) {
    it(`each write once with ${what}: all of it comes through, and each is sent a few times`, async (t) => {
      const { namespace, proxy, first, push } = await start(t, refuseEachOnce(fault));
      await syncReaches(testClient(), namespace, 'Ready', { commit: first, ...PATIENCE });
      const commit = await push({
        'plugins/b.yaml': null,
        'apps/a/one.yaml': null,
        'apps/a/two.yaml': configMap('two', { a: '2' }),
      });
      await syncReaches(testClient(), namespace, 'Ready', { commit, ...PATIENCE });
      const { items } = await testClient().list({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
      assert.deepEqual(items.map(({ metadata }) => metadata.name).toSorted(), ['four', 'kube-root-ca.crt', 'two']);
      assert.ok(proxy.mutations < 120, `${proxy.mutations} writes`);
    });

    it(`the writes of one plugin with ${what} for a while: the others go on, it is tried now and then, and comes through`, async (t) => {
      const isRefused = isOf('PATCH', '/configmaps/four');
      let healed = false;
      const { namespace, proxy } = await start(t, (request) => (!healed && isRefused(request) ? fault : undefined));
      await pluginReaches(testClient(), namespace, 'b', 'Ready');
      const tries = await triesWithin(5_000, () => proxy.requests.filter(isRefused).length);
      assert.ok(tries <= 24, `${tries} tries`);
      assert.ok(proxy.requests.length < 250, `${proxy.requests.length} requests`);
      healed = true;
      await syncReaches(testClient(), namespace, 'Ready', PATIENCE);
    });
  }

  for (const [what, path] of [
    ['an object', '/configmaps/four'],
    ['a Plugin', '/plugins/c'],
  ] as const) {
    it(`the deletion of ${what} with 409 for a while: it is tried now and then, and comes through`, async (t) => {
      const { namespace, proxy, first, push } = await start(t);
      await syncReaches(testClient(), namespace, 'Ready', { commit: first, ...PATIENCE });
      const isRefused = isOf('DELETE', path);
      let healed = false;
      proxy.before = (request) => (!healed && isRefused(request) ? { status: 409 } : undefined);
      const commit = await push({ 'plugins/c.yaml': null });
      const tries = await triesWithin(5_000, () => proxy.requests.filter(isRefused).length);
      assert.ok(tries <= 24, `${tries} tries`);
      healed = true;
      await syncReaches(testClient(), namespace, 'Ready', { commit, ...PATIENCE });
    });
  }

  for (const [what, fault] of REFUSALS.filter(([what]) => ['409', '500'].includes(what))) {
    it(`the record of a plugin with ${what}: nothing of the plugin is written before it is on record`, async (t) => {
      const isRecord = isOf('PATCH', '/plugins/c/status');
      let healed = false;
      const { namespace, proxy } = await start(t, (request) => (!healed && isRecord(request) ? fault : undefined));
      await pluginReaches(testClient(), namespace, 'b', 'Ready');
      await delay(2_000);
      assert.ok(!proxy.requests.some(isOf('PATCH', '/configmaps/four')));
      healed = true;
      await syncReaches(testClient(), namespace, 'Ready', PATIENCE);
    });
  }

  it('with 504 what it has carried out: nothing is done twice that shows', async (t) => {
    const { namespace, proxy, first, push } = await start(t);
    await syncReaches(testClient(), namespace, 'Ready', { commit: first, ...PATIENCE });
    proxy.after = refuseEachOnce({ status: 504 });
    const commit = await push({
      'plugins/b.yaml': null,
      'apps/a/one.yaml': null,
      'apps/c/five.yaml': configMap('five'),
    });
    await syncReaches(testClient(), namespace, 'Ready', { commit, ...PATIENCE });
    const { items } = await testClient().list({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
    assert.deepEqual(items.map(({ metadata }) => metadata.name).toSorted(), [
      'five',
      'four',
      'kube-root-ca.crt',
      'two',
    ]);
  });

  it('every read with 500: nothing is deleted, and it goes on when it heals', async (t) => {
    const { namespace, proxy, first, push } = await start(t);
    await syncReaches(testClient(), namespace, 'Ready', { commit: first, ...PATIENCE });
    let healed = false;
    proxy.before = ({ method, path }) =>
      !healed && method === 'GET' && !path.includes('/leases/') ? { status: 500 } : undefined;
    proxy.reset();
    const commit = await push({ 'plugins/c.yaml': null, 'apps/a/one.yaml': null });
    await delay(4_000);
    assert.ok(!proxy.requests.some(isOf('DELETE', '/configmaps/')));
    assert.ok(proxy.requests.length < 200, `${proxy.requests.length} requests`);
    healed = true;
    await syncReaches(testClient(), namespace, 'Ready', { commit, ...PATIENCE });
  });
});
