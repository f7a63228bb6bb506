import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION } from '../../src/api/index.ts';
import { type Scene, startScene } from '../reconcile/scene.ts';
import { getPlugin } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { commitFiles, testGitServer } from '../support/gitserver.ts';
import type { SeenRequest } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { packageAt, removed } from './support/cluster-package.ts';

/** The new version of a package comes after this; its chart moves to it after its first hook. */
async function upgrade(t: TestContext, before: (scene: Scene, name: string) => Promise<void>): Promise<void> {
  const packages = await (await testGitServer(t)).createRepository('packages');
  const name = uniqueName('demo');
  const at = (version: string, chart: string) =>
    packageAt('demo', { name, version, charts: [chart], hooks: ['pre-install'] });
  await commitFiles(packages, at('v1.0', 'web'));
  const source = { git: { url: packages.url, path: 'demo' } };
  const plugin = { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec: {} };
  const scene = await startScene(t, {
    files: { 'plugins/demo.yaml': JSON.stringify({ ...plugin, spec: { kind: 'expansion', source, poll: '1s' } }) },
  });
  await before(scene, name);
  scene.proxy.requests.length = 0;
  await commitFiles(packages, { ...removed(at('v1.0', 'web')), ...at('v1.1', 'web@0.2.0') });
  await eventually(
    async () => {
      const { revision, phase } = (await getPlugin(scene.client, scene.namespace, `${name}-web`))?.status ?? {};
      assert.deepEqual([revision?.version, phase], ['0.2.0', 'Ready']);
    },
    { timeoutMs: 60_000 },
  );
  const writes = scene.proxy.requests
    .filter(({ mutation }) => mutation > 0)
    .map(({ method, path }) => `${method} ${path}`);
  const at1 = (what: RegExp): number => writes.findIndex((write) => what.test(write));
  const [hook, release] = [at1(/PATCH .*\/jobs\/\S+-pre-install-v1-1\?/), at1(/POST .*\/secrets/)];
  assert.ok(hook >= 0 && hook < release, `${hook} ${release} ${writes.join('\n')}`);
}

test('no chart moves to a new version of a package before its first hook has run, however late that is written', (t) =>
  upgrade(t, async ({ proxy }, name) => {
    proxy.before = async ({ method, path }) => {
      if (method === 'PATCH' && path.includes(`/plugins/${name}-pre-install?`)) await delay(1_500);
      return undefined;
    };
  }));

test('nor where answers are all that is heard of Plugins, because their watch is late', (t) =>
  upgrade(t, async (scene) => {
    const isWatch = ({ path }: SeenRequest) => /\/plugins\?.*watch=/.test(path);
    scene.proxy.before = (request) => (isWatch(request) ? 'hang' : undefined);
    await scene.restartAgent();
  }));
