import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { installKinds } from '../api/install.ts';
import { configMap, declareTestSync, getPlugin, pluginReaches, pluginYaml, startTestAgent } from '../support/agent.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { always, eventually } from '../support/eventually.ts';
import { commitFiles, testGitServer } from '../support/gitserver.ts';
import { espalier } from './support/espalier.ts';

before(() => installKinds(testClient()));

const NAMES = ['a', 'b', 'c', 'd'];

test('a person steers the agent: reconcile waits for a push, a suspended Plugin rests, and a held removal is approved', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t);
  const server = await testGitServer(t);
  const repository = await server.createRepository('platform');
  const files = NAMES.flatMap((name) => [
    [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)],
    [`apps/${name}/cm.yaml`, configMap(name)],
  ]);
  await commitFiles(repository, Object.fromEntries(files));
  await declareTestSync(client, { namespace, url: repository.url });
  await startTestAgent(t, { namespace });
  const run = (...args: string[]) => espalier([...args, '-n', namespace]);
  const valueOfA = async () => {
    const live = await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a' });
    return (live?.data as Record<string, string> | undefined)?.a;
  };

  const first = await run('reconcile', 'sync', 'sync');
  assert.deepEqual([first.code, first.stdout.slice(0, 37)], [0, 'sync/sync is ready: 4 plugins ready a']);
  const tree = await run('tree');
  assert.match(tree.stdout, /├─ ✓ Plugin a .*1 object healthy\n│ {2}└─ ✓ ConfigMap a\n/);

  assert.equal((await run('suspend', 'plugin/a')).code, 0);
  await pluginReaches(client, namespace, 'a', 'Suspended');
  const second = await commitFiles(repository, { 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
  const meanwhile = await run('reconcile', 'sync/sync', '--no-wait');
  assert.equal(meanwhile.code, 0);
  await eventually(async () => {
    assert.equal((await getPlugin(client, namespace, 'a'))?.spec.source.git?.commit, second);
  });
  await always(async () => assert.equal(await valueOfA(), '1'), { forMs: 300 });
  assert.equal((await run('resume', 'plugin/a')).code, 0);
  assert.equal((await run('reconcile', 'plugin/a')).code, 0);
  assert.equal(await valueOfA(), '2');

  const removals = Object.fromEntries(['b', 'c', 'd'].map((name) => [`plugins/${name}.yaml`, null]));
  const third = await commitFiles(repository, removals);
  const held = await run('reconcile', 'sync/sync');
  assert.equal(held.code, 1);
  assert.match(held.stderr, /^espalier: sync\/sync: Held: 3 of 4 plugins would be removed/m);
  const shown = await run('approve', 'sync');
  const [, command = ''] = /^Approve: espalier (.*)$/m.exec(shown.stdout) ?? [];
  assert.equal(command, `approve sync/sync -n ${namespace} --commit ${third}`);
  assert.equal((await espalier(command.split(' '))).code, 0);
  await eventually(async () => {
    const left = await Promise.all(NAMES.map((name) => getPlugin(client, namespace, name)));
    assert.deepEqual(
      left.flatMap((plugin) => plugin?.metadata.name ?? []),
      ['a'],
    );
  });
});

test('reconcile ends with the reason when the repository can not be read', async (t) => {
  const namespace = await testNamespace(t);
  const server = await testGitServer(t);
  const url = (await server.createRepository('platform')).url.replace('platform', 'nowhere');
  await declareTestSync(testClient(), { namespace, url });
  await startTestAgent(t, { namespace });
  const { code, stderr } = await espalier(['reconcile', 'sync/sync', '-n', namespace, '--timeout', '60s']);
  assert.equal(code, 1);
  assert.match(stderr, /^espalier: sync\/sync: .*Failed: .*no repository at that path/m);
});
