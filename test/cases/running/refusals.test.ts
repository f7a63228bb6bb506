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
async function start(t: TestContext, fault?: HttpProxy['before'], files: Record<string, string> = FILES) {
  const namespace = await testNamespace(t, { prefix: 'refusals' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const { proxy, kubeconfig } = await startProxied(t);
  const first = await commitFiles(repository, files);
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

/** All but the one that every namespace gets, some time after it was made. */
async function configMapsOf(namespace: string): Promise<string[]> {
  const { items } = await testClient().list({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
  const names = items.map(({ metadata }) => metadata.name);
  return names.filter((name) => name !== 'kube-root-ca.crt').toSorted();
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
      assert.deepEqual(await configMapsOf(namespace), ['four', 'two']);
      assert.ok(proxy.mutations < 120, `${proxy.mutations} writes`);
    });
  }

  it('the writes of some plugins for a while, each in its way: the others go on, they are tried now and then, and come through', async (t) => {
    const faults = new Map(REFUSALS.map(([, fault], index) => [`refused-${index}`, fault]));
    let healed = false;
    const faultOf = (request: SeenRequest) =>
      [...faults].find(([name]) => isOf('PATCH', `/configmaps/${name}`)(request))?.[1];
    const { namespace, proxy } = await start(t, (request) => (healed ? undefined : faultOf(request)), {
      ...FILES,
      ...Object.fromEntries(
        [...faults.keys()].flatMap((name) => [
          [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)],
          [`apps/${name}/cm.yaml`, configMap(name)],
        ]),
      ),
    });
    await pluginReaches(testClient(), namespace, 'b', 'Ready');
    const triesOf = (name: string) => proxy.requests.filter(isOf('PATCH', `/configmaps/${name}`)).length;
    const tries = await Promise.all([...faults.keys()].map((name) => triesWithin(5_000, () => triesOf(name))));
    assert.ok(
      tries.every((count) => count <= 24),
      `${tries} tries`,
    );
    assert.ok(proxy.requests.length < 600, `${proxy.requests.length} requests`);
    healed = true;
    await syncReaches(testClient(), namespace, 'Ready', PATIENCE);
  });

  it('the deletion of an object and of a Plugin with 409 for a while: it is tried now and then, and comes through', async (t) => {
    const { namespace, proxy, first, push } = await start(t);
    await syncReaches(testClient(), namespace, 'Ready', { commit: first, ...PATIENCE });
    const paths = ['/configmaps/one', '/plugins/c'];
    let healed = false;
    proxy.before = (request) =>
      !healed && paths.some((path) => isOf('DELETE', path)(request)) ? { status: 409 } : undefined;
    const commit = await push({ 'plugins/c.yaml': null, 'apps/a/one.yaml': null });
    const triesOf = (path: string) => proxy.requests.filter(isOf('DELETE', path)).length;
    const tries = await Promise.all(paths.map((path) => triesWithin(5_000, () => triesOf(path))));
    // A look tries five times in a row. Looks come with back-off, four or five in that time, and one with news.
    assert.ok(
      tries.every((count) => count <= 30),
      `${tries} tries`,
    );
    healed = true;
    await syncReaches(testClient(), namespace, 'Ready', { commit, ...PATIENCE });
  });

  it('the record of a plugin with 409 or 500: nothing of the plugin is written before it is on record', async (t) => {
    const refused: [status: number, plugin: string, object: string][] = [
      [409, 'c', 'four'],
      [500, 'd', 'five'],
    ];
    let healed = false;
    const faultOf = (request: SeenRequest): Fault | undefined => {
      const [status] = refused.find(([, plugin]) => request.path.includes(`/plugins/${plugin}/status`)) ?? [];
      return status === undefined || healed ? undefined : { status };
    };
    const files = { 'plugins/d.yaml': pluginYaml('d', 'apps/d'), 'apps/d/five.yaml': configMap('five') };
    const { namespace, proxy } = await start(t, faultOf, { ...FILES, ...files });
    await pluginReaches(testClient(), namespace, 'b', 'Ready');
    await delay(2_000);
    for (const [, , object] of refused) assert.ok(!proxy.requests.some(isOf('PATCH', `/configmaps/${object}`)));
    healed = true;
    await syncReaches(testClient(), namespace, 'Ready', PATIENCE);
    for (const [, , object] of refused) assert.ok(proxy.requests.some(isOf('PATCH', `/configmaps/${object}`)));
  });

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
    assert.deepEqual(await configMapsOf(namespace), ['five', 'four', 'two']);
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
