import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  configMap,
  declareTestSync,
  getPlugin,
  pluginReaches,
  pluginYaml,
  startTestAgent,
} from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';

/** More than the test agent renders at once. */
const ENDLESS = ['endless-1', 'endless-2', 'endless-3'];

test('R9 more endless renderings than there are places for them hold up no other plugin, and none outlives the agent', async (t) => {
  const namespace = await testNamespace(t, { prefix: 'endless' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const folder = await tempDir(t);
  // Each leaves a file named after its process, and a descendant that would outlive a parent killed alone.
  const kustomize = join(folder, 'kustomize');
  const script = `#!/bin/sh\n/bin/sleep 3600 &\n: > ${folder}/$$.pid\n: > ${folder}/$!.pid\nwait\n`;
  await writeFile(kustomize, script, { mode: 0o755 });
  process.env.ESPALIER_TOOL_KUSTOMIZE = kustomize;
  t.after(() => delete process.env.ESPALIER_TOOL_KUSTOMIZE);
  await commitFiles(repository, {
    ...Object.fromEntries(
      ENDLESS.flatMap((name) => [
        [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`, { kind: 'kustomize' })],
        [`apps/${name}/kustomization.yaml`, 'resources: [cm.yaml]\n'],
        [`apps/${name}/cm.yaml`, configMap(name)],
      ]),
    ),
    'plugins/quick.yaml': pluginYaml('quick', 'apps/quick'),
    'apps/quick/cm.yaml': configMap('quick'),
  });
  await declareTestSync(testClient(), { namespace, url: repository.url });
  const agent = await startTestAgent(t, { namespace });
  const processes = async () =>
    (await readdir(folder)).filter((name) => name.endsWith('.pid')).map((name) => Number.parseInt(name, 10));
  await eventually(async () => assert.equal((await processes()).length, 2 * ENDLESS.length), { timeoutMs: 30_000 });
  await pluginReaches(testClient(), namespace, 'quick', 'Ready');
  for (const name of ENDLESS) {
    assert.deepEqual((await getPlugin(testClient(), namespace, name))?.status?.inventory ?? [], []);
  }
  const pids = await processes();
  for (const pid of pids) process.kill(pid, 0);
  await agent.stop();
  await eventually(() => {
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }, `${pid} lives on`);
  });
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
  // One that got no time to say who it is was killed too; then another try says so.
  const pid = await eventually(async () => {
    const [, said] = /^(\d+)\n$/.exec(await readFile(pidFile, 'utf8')) ?? [];
    assert.ok(said);
    return Number(said);
  });
  await eventually(() => assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' }));
});
