import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { InventoryEntry, KubeObject, Plugin } from '../../src/api/index.ts';
import { espalier } from '../cli/support/espalier.ts';
import { pluginReaches, pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { commitFiles } from '../support/gitserver.ts';
import { tempDir } from '../support/tempdir.ts';
import { type Scene, startScene } from './scene.ts';

const API_SECRET = 'that is all';

test('what runs once', async (t) => {
  const scene = await startScene(t, { files: { 'README.md': '' }, until: undefined });
  const writes = (name: string) => scene.writesTo(`jobs/${name}`).length;
  const run = (...args: string[]) => espalier([...args, '-n', scene.namespace]);
  const install = (name: string, job: string, spec = {}) =>
    scene.settle({ [`plugins/${name}.yaml`]: pluginYaml(name, `apps/${name}`, spec), [`apps/${name}/job.yaml`]: job });

  await t.test('a Job that removes itself when it is done stays away until its key is another', async () => {
    // Its kind is watched from now on, and it is gone again before the first list could arrive.
    scene.proxy.before = async ({ method, path }) => {
      if (method === 'GET' && path.includes('/jobs?')) await delay(2_000);
      return undefined;
    };
    await install('swift', jobYaml('swift', { key: 'v1', ttl: 0 }));
    scene.proxy.before = undefined;
    assert.deepEqual(onceOf(await reached(scene, 'swift')), { key: 'v1', at: 'some time' });
    await isGone(scene, 'swift');
    await run('reconcile', 'plugin/swift');
    await scene.settle({ 'apps/swift/job.yaml': jobYaml('swift', { key: 'v1', ttl: 0, image: 'b' }) });
    await scene.restartAgent();
    assert.match((await run('reconcile', 'plugin/swift')).stdout, /ready/);
    assert.equal(writes('swift'), 1);
    assert.match((await run('tree', 'plugin/swift')).stdout, /✓ Job swift {2}ran once for v1, and is gone/);

    const root = await tempDir(t);
    const folder = join(root, 'apps', 'swift');
    await mkdir(folder, { recursive: true });
    await writeFile(join(root, 'swift.yaml'), pluginYaml('swift', 'apps/swift'));
    const planned = async (key: string) => {
      await writeFile(join(folder, 'job.yaml'), jobYaml('swift', { key, ttl: 0, image: 'c' }));
      return (await run('plan', root, '--plugin', 'swift')).stdout;
    };
    assert.match(await planned('v1'), /Job .*swift: ran once for v1; as it is declared .*\n\n1 plugin: no changes\n$/s);
    assert.match(await planned('v2'), /\+ Job .*swift\n\n1 plugin: 1 to create\n$/);

    await scene.settle({ 'apps/swift/job.yaml': jobYaml('swift', { key: 'v2', ttl: 0, image: 'b' }) });
    assert.deepEqual(onceOf(await reached(scene, 'swift')), { key: 'v2', at: 'some time' });
    assert.equal(writes('swift'), 2);
  });

  await t.test(
    'one that is still there is deleted and made anew for another key, also when the agent ends in between',
    async () => {
      await install('stays', jobYaml('stays', { key: 'v1' }), { drift: { mode: 'report' } });
      const first = await scene.get('Job', 'stays');
      const ended = Promise.withResolvers<void>();
      scene.proxy.after = ({ method, path, mutation }) => {
        if (method !== 'DELETE' || mutation === 0 || !path.includes('/jobs/stays')) return undefined;
        ended.resolve();
        return 'hang';
      };
      await scene.push({ 'apps/stays/job.yaml': jobYaml('stays', { key: 'v2', image: 'b' }) });
      await ended.promise;
      scene.proxy.after = undefined;
      await scene.restartAgent();
      const { status } = await reached(scene, 'stays', 'Ready', 'v2');
      const second = await scene.get('Job', 'stays');
      assert.notEqual(second.metadata.uid, first.metadata.uid);
      assert.deepEqual(status?.drift, undefined);

      await scene.client.delete(scene.ref('Job', 'stays'), { propagation: 'Background' });
      await run('reconcile', 'plugin/stays');
      assert.equal(await scene.client.get(scene.ref('Job', 'stays')), undefined);
      const left = (await reached(scene, 'stays')).status;
      assert.deepEqual([left?.message, left?.drift], ['1 object healthy', undefined]);
    },
  );

  await t.test(
    'what has run and is not on record runs again after a crash, unless it is there to be seen',
    async () => {
      scene.proxy.before = ({ method, path, body }) =>
        method === 'PATCH' && /\/plugins\/(twice|seen)\/status/.test(path) && body.includes(' ran=')
          ? 'reset'
          : undefined;
      await scene.push({
        'plugins/twice.yaml': pluginYaml('twice', 'apps/twice'),
        'apps/twice/job.yaml': jobYaml('twice', { key: 'v1', ttl: 0 }),
        'plugins/seen.yaml': pluginYaml('seen', 'apps/seen'),
        'apps/seen/job.yaml': jobYaml('seen', { key: 'v1' }),
      });
      await eventually(() => assert.deepEqual([writes('twice'), writes('seen')], [1, 1]));
      await isGone(scene, 'twice');
      await eventually(async () => assert.match(JSON.stringify(await scene.get('Job', 'seen')), /"type":"Complete"/));
      await scene.restartAgent(async () => {
        scene.proxy.reset();
        // The agent reads the Job before its watch can tell of it.
        const isRead = () =>
          scene.proxy.requests.some(({ method, path }) => method === 'GET' && path.endsWith('/jobs/seen'));
        scene.proxy.before = async ({ path }) => {
          if (path.startsWith('/apis/batch/v1/jobs?')) await eventually(() => assert.ok(isRead()));
          return undefined;
        };
        await commitFiles(scene.repository, { 'apps/seen/job.yaml': jobYaml('seen', { key: 'v1', image: 'b' }) });
      });
      for (const name of ['twice', 'seen']) await reached(scene, name, 'Ready', 'v1');
      assert.deepEqual([writes('twice'), writes('seen')], [1, 0]);
      scene.proxy.before = undefined;
    },
  );

  await t.test('one that fails is told with the end of its log, and runs again when asked or corrected', async () => {
    const word = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'word', namespace: scene.namespace } };
    await scene.client.create({ ...word, stringData: { word: `${API_SECRET}\n` } } as KubeObject);
    await scene.push({
      'plugins/fails.yaml': pluginYaml('fails', 'apps/fails'),
      'apps/fails/job.yaml': jobYaml('fails', { key: 'v1', fails: true }),
    });
    const { status } = await reached(scene, 'fails', 'Failed');
    assert.match(status?.message ?? '', /Job .*fails: BackoffLimitExceeded/);
    const [log, ...more] = status?.logs ?? [];
    assert.deepEqual(
      [log?.container, log?.lines.length, log?.lines.at(-2), log?.lines.at(-1), more],
      ['main', 20, 'step 28 of 28: done', '[redacted]', []],
    );
    assert.match(
      (await run('tree', 'plugin/fails')).stdout,
      /✗ Job fails .*\n.*\| fails-\w+\/main: step 10 of 28: done\n/,
    );

    const failed = await scene.get('Job', 'fails');
    assert.equal((await run('reconcile', 'plugin/fails')).code, 1);
    await eventually(async () => {
      const [again] = (await reached(scene, 'fails', 'Failed')).status?.logs ?? [];
      assert.notEqual(again?.uid, failed.metadata.uid);
    });
    assert.equal(scene.proxy.requests.filter(({ path }) => path.includes('/log?')).length, 2);

    await scene.settle({ 'apps/fails/job.yaml': jobYaml('fails', { key: 'v1' }) });
    assert.equal((await reached(scene, 'fails')).status?.logs, undefined);
  });
});

interface JobWish {
  key: string;
  ttl?: number;
  image?: string;
  fails?: boolean;
}

/** kwok lets it complete at once, or fail. */
function jobYaml(name: string, { key, ttl, image = 'a', fails = false }: JobWish): string {
  const stage = 'pod-container-running-failed.stage.kwok.x-k8s.io';
  const failing = {
    labels: { [stage]: 'true' },
    annotations: { [`${stage}/delay`]: '1ms', [`${stage}/jitter-delay`]: '1ms' },
  };
  const secretKeyRef = { name: 'word', key: 'word', optional: true };
  const env = [{ name: 'WORD', valueFrom: { secretKeyRef } }];
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, annotations: { 'espalier.dev/once': key } },
    spec: {
      backoffLimit: 0,
      ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
      template: {
        ...(fails ? { metadata: failing } : {}),
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image, env }] },
      },
    },
  });
}

async function reached(scene: Scene, name: string, phase: 'Ready' | 'Failed' = 'Ready', key?: string): Promise<Plugin> {
  if (key === undefined) return await pluginReaches(scene.client, scene.namespace, name, phase);
  return await eventually(
    async () => {
      const plugin = await pluginReaches(scene.client, scene.namespace, name, phase);
      assert.deepEqual(onceOf(plugin), { key, at: 'some time' });
      return plugin;
    },
    { timeoutMs: 20_000 },
  );
}

function entryOf({ status }: Plugin): InventoryEntry | undefined {
  return status?.inventory?.find(({ kind }) => kind === 'Job');
}

function onceOf(plugin: Plugin): InventoryEntry['once'] {
  const once = entryOf(plugin)?.once;
  return once?.at === undefined ? once : { ...once, at: 'some time' };
}

async function isGone(scene: Scene, name: string): Promise<void> {
  await eventually(async () => assert.equal(await scene.client.get(scene.ref('Job', name)), undefined));
}
