import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../src/api/index.ts';
import { startProxied } from '../cases/support/proxied.ts';
import { chart } from '../support/charts.ts';
import { eventually } from '../support/eventually.ts';
import { untilQuiet } from '../support/httpproxy.ts';
import { configMap } from './charts/fixture.ts';
import { hookJob } from './charts/hooks.ts';
import { RANDOM_FILES } from './charts/random.ts';
import { WORKLOADS } from './charts/workloads.ts';
import { dataOf, startHelmScene } from './support/scene.ts';

describe('a release at rest', { concurrency: 2 }, () => {
  test('H11: replicas that an autoscaler owns are never reset, and are no drift; another field is put back', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const [step] = WORKLOADS.steps('');
    assert.ok(step);
    // As charts for autoscaling do, the Deployment says nothing of replicas.
    const deployment = String(step.chart['templates/deployment.yaml']).replace(/ {2}replicas: .*\n/, '');
    await scene.install({ ...step.chart, 'templates/deployment.yaml': deployment });
    const before = await scene.records();

    const web = platform.ref('Deployment', 'web', 'apps/v1');
    await platform.client.patch(web, { spec: { replicas: 3 } }, { type: 'merge', fieldManager: 'autoscaler' });
    await platform.restart();
    platform.look();
    await delay(1_500);
    assert.equal((await deploymentSpec(platform.get('Deployment', 'web', 'apps/v1'))).replicas, 3);
    const plugin = await platform.pluginReaches('workloads', 'Ready');
    assert.deepEqual(plugin.status?.drift ?? [], []);

    await platform.client.patch(web, { spec: { revisionHistoryLimit: 1, template: OTHER_ACCOUNT } }, HAND);
    await eventually(async () => {
      const spec = await deploymentSpec(platform.get('Deployment', 'web', 'apps/v1'));
      assert.equal(spec.template.spec.serviceAccountName, 'web');
      assert.equal(spec.replicas, 3);
    });
    assert.deepEqual(await scene.records(), before, 'a repair is no revision');
  });

  test('while a hook runs, the status says so once', async (t) => {
    const { proxy, kubeconfig } = await startProxied(t);
    const { platform, ...scene } = await startHelmScene(t, { agent: { kubeconfig } });
    const hook = hookJob('slow', { on: 'pre-install' }, 'never ends');
    await scene.declare(chart('app', { 'templates/slow.yaml': hook, 'templates/a.yaml': configMap('a', ['a: b']) }));
    await platform.pluginSays('app', /waits for pre-install hook Job .*slow/);
    await untilQuiet(proxy);
    const looks = () => proxy.requests.filter(({ method, path }) => method === 'GET' && path.endsWith('/jobs/slow'));
    proxy.reset();
    await eventually(() => assert.ok(looks().length > 3, `it looked ${looks().length} times`));
    const writes = proxy.requests.filter(
      ({ method, path }) => method !== 'GET' && path.includes('/plugins/app/status'),
    );
    assert.deepEqual(
      writes.map(({ body }) => body),
      [],
    );
  });

  test('H13: random values and generated certificates are no drift and make no revision, after a restart neither', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    await scene.install(chart('random', RANDOM_FILES));
    const [records, token] = [await scene.records(), dataOf(await platform.get('Secret', 'token'))];
    platform.look();
    await platform.restart();
    platform.look();
    await platform.settles();
    await delay(1_500);
    assert.deepEqual(await scene.records(), records);
    assert.deepEqual(dataOf(await platform.get('Secret', 'token')), token);
    const plugin = await platform.plugin('random');
    assert.deepEqual([plugin?.status?.phase, plugin?.status?.drift ?? []], ['Ready', []]);

    // What somebody changes is put back to the value that was drawn, not to a new one.
    await platform.client.patch(platform.ref('Secret', 'token'), { data: { token: 'Z29uZQ==' } }, HAND);
    await eventually(async () => assert.deepEqual(dataOf(await platform.get('Secret', 'token')), token));
    assert.deepEqual(await scene.records(), records);

    await scene.install(chart('random', RANDOM_FILES), { values: { text: 'two' } });
    assert.deepEqual(await scene.history('random'), ['1 superseded', '2 deployed']);
    assert.notDeepEqual(dataOf(await platform.get('Secret', 'token')), token);
  });

  test('H14: while nothing changes nothing is written, however often it is looked at, and no chart is fetched twice', async (t) => {
    const { proxy, kubeconfig } = await startProxied(t);
    const scene = await startHelmScene(t, { agent: { kubeconfig } });
    const { platform, charts } = scene;
    await scene.install(chart('still', { 'templates/one.yaml': configMap('one', ['text: here']) }));
    const records = await scene.records();
    await untilQuiet(proxy);
    proxy.reset();
    charts.forgetRequests();
    for (let times = 0; times < 20; times++) {
      platform.look();
      await delay(50);
    }
    const writes = proxy.requests.filter(
      ({ mutation, path }) => mutation > 0 && !path.includes('/leases/') && !path.includes('/events'),
    );
    assert.deepEqual(writes, []);
    assert.deepEqual(await scene.records(), records);
    assert.deepEqual(
      charts.requests.filter(({ path }) => path.endsWith('.tgz')),
      [],
    );

    // A restart finds it all again without a write to it; another commit neither.
    proxy.reset();
    await platform.restart();
    await platform.push({ 'docs/unrelated.md': 'text' });
    await platform.settles();
    await delay(1_000);
    assert.deepEqual(await scene.records(), records);
    const written = proxy.requests.filter(({ mutation, path }) => mutation > 0 && /configmaps|secrets/.test(path));
    assert.deepEqual(written, []);
  });
});

const HAND = { type: 'merge', fieldManager: 'somebody' } as const;
const OTHER_ACCOUNT = { spec: { serviceAccountName: 'default' } };

interface DeploymentSpec {
  replicas: number;
  template: { spec: { serviceAccountName: string } };
}

async function deploymentSpec(found: Promise<KubeObject | undefined>): Promise<DeploymentSpec> {
  const object = await found;
  assert.ok(object);
  return (object as KubeObject & { spec: DeploymentSpec }).spec;
}
