import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProxied } from '../cases/support/proxied.ts';
import { chart } from '../support/charts.ts';
import { eventually } from '../support/eventually.ts';
import { configMap } from './charts/fixture.ts';
import { hookJob } from './charts/hooks.ts';
import { startHelmScene } from './support/scene.ts';

test('H4: the last write of the record fails: it is not called ready before helm says deployed, and no hook runs again', async (t) => {
  const { proxy, kubeconfig } = await startProxied(t);
  let isBroken = true;
  let refused = 0;
  proxy.before = ({ method, path, body }) => {
    const isRecord = method === 'PATCH' && path.includes('/secrets/sh.helm.release.v1.app.v1');
    if (!isRecord || !isBroken || !String(body).includes('"status":"deployed"')) return undefined;
    refused++;
    return { status: 500 };
  };
  const scene = await startHelmScene(t, { agent: { kubeconfig } });
  const { platform } = scene;
  const migrate = hookJob('migrate', { on: 'pre-install', policy: 'before-hook-creation' });
  await scene.declare(
    chart('app', { 'templates/body.yaml': configMap('body', ['a: b']), 'templates/migrate.yaml': migrate }),
  );
  await eventually(() => assert.ok(refused > 1), { timeoutMs: 60_000 });
  assert.notEqual((await platform.plugin('app'))?.status?.phase, 'Ready');
  assert.ok(await platform.get('ConfigMap', 'body'), 'its objects are there');
  const job = await platform.get('Job', 'migrate', 'batch/v1');
  isBroken = false;
  await platform.settles();
  assert.deepEqual(await scene.history('app'), ['1 deployed']);
  assert.equal((await platform.get('Job', 'migrate', 'batch/v1'))?.metadata.uid, job?.metadata.uid);
});
