import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type InventoryEntry, type KubeObject, LABEL, refOf } from '../../src/api/index.ts';
import type { TreeNode } from '../../src/cli/tree-node.ts';
import { installKinds } from '../api/install.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { espalier } from './support/espalier.ts';
import { COMMIT, conditions, createPlugin, createSync, ready } from './support/objects.ts';

before(() => installKinds(testClient()));

describe('espalier tree', { concurrency: 3 }, () => {
  test('shows Plugins after what they depend on, what they wait for, and the live health of objects', async (t) => {
    const namespace = await platform(t);
    const { code, stdout, stderr } = await espalier(['tree', 'platform', '-n', namespace]);
    assert.equal(stderr, '');
    assert.equal(code, 0);
    assert.deepEqual(stdout.trimEnd().split('\n'), [
      `◌ Sync ${namespace}/platform  7a2ad27f44  1 plugin ready, 1 waiting: late at 7a2ad27f44`,
      '├─ ✓ Plugin web  7a2ad27f44  6 objects healthy; 1 object drifted',
      '│  ├─ ✓ ConfigMap one  drifted: /data/key (kubectl)',
      '│  ├─ ✓ ConfigMap two',
      '│  ├─ ✓ ConfigMap three',
      '│  ├─ ✓ ConfigMap four',
      '│  ├─ ✗ ConfigMap five  is gone',
      '│  ├─ ✗ ConfigMap six  another object has its name now',
      '│  ├─ ✗ Job frontend  BackoffLimitExceeded: gave up',
      '│  └─ ✗ Widget unknown  is gone',
      '└─ … Plugin late  waiting for web: not applied yet',
    ]);
  });

  test('--depth leaves lower levels out', async (t) => {
    const namespace = await platform(t);
    const [one, two] = await Promise.all([
      espalier(['tree', '-n', namespace, '--depth', '1']),
      espalier(['tree', '-n', namespace, '--depth', '2']),
    ]);
    assert.deepEqual(firstWords(one.stdout), [`◌ Sync ${namespace}/platform`, `? Plugin ${namespace}/by-hand`]);
    assert.match(two.stdout, /✓ Plugin web/);
    assert.doesNotMatch(two.stdout, /ConfigMap/);
  });

  test('one Plugin stands by itself, and -o json says the same for programs', async (t) => {
    const namespace = await platform(t);
    const { stdout } = await espalier(['tree', 'plugin/web', '-n', namespace, '-o', 'json']);
    const [web, ...others]: TreeNode[] = JSON.parse(stdout);
    assert.deepEqual(others, []);
    assert.deepEqual([web?.kind, web?.name, web?.state, web?.revision], ['Plugin', 'web', 'healthy', '7a2ad27f44']);
    assert.deepEqual(
      web?.children.map(({ name, state }) => [name, state]),
      [
        ...['one', 'two', 'three', 'four'].map((name) => [name, 'healthy']),
        ...['five', 'six'].map((name) => [name, 'missing']),
        ['frontend', 'failed'],
        ['unknown', 'missing'],
      ],
    );
    assert.deepEqual(web?.children[0]?.drift, ['/data/key (kubectl)']);
  });

  test('a Plugin that a Sync wrote into another namespace hangs on that Sync', async (t) => {
    const [namespace, other] = await Promise.all([testNamespace(t), testNamespace(t)]);
    await createSync({ namespace, name: 'platform' });
    const labels = { [LABEL.sync]: 'platform', [LABEL.syncNamespace]: namespace };
    await createPlugin({ namespace: other, name: 'web', labels });
    const { stdout } = await espalier(['tree', '-n', namespace]);
    assert.match(stdout, new RegExp(`└─ \\? Plugin ${other}/web  not looked at yet`));
  });

  test('an unknown name lists what there is', async (t) => {
    const namespace = await platform(t);
    const { code, stderr } = await espalier(['tree', 'platfrom', '-n', namespace]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /no Sync or Plugin "platfrom" .* there are: sync\/platform, plugin\/by-hand, plugin\/late, plugin\/web/,
    );
  });
});

function firstWords(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split('  ')[0] ?? '');
}

/** A Sync with a Plugin whose objects are in every state, one that waits for it, and a Plugin made by hand. */
async function platform(t: Parameters<typeof testNamespace>[0]): Promise<string> {
  const namespace = await testNamespace(t);
  const names = ['one', 'two', 'three', 'four', 'five', 'six'];
  const maps = await Promise.all(names.map((name) => configMap(namespace, name)));
  const inventory = [...maps.map(entryOf), entryOf(await failedJob(namespace))];
  const [five, six] = [maps[4], inventory[5]];
  if (five !== undefined) await testClient().delete(refOf(five));
  if (six !== undefined) six.uid = 'somebody-else';
  inventory.push({ apiVersion: 'example.com/v1', kind: 'Widget', namespace, name: 'unknown', uid: 'x' });
  const drift = [{ object: `ConfigMap ${namespace}/one`, fields: ['/data/key'], by: 'kubectl' }];
  const plugins = { total: 2, ready: 1, waiting: 1, failed: 0, held: 0 };
  await Promise.all([
    createSync({
      namespace,
      name: 'platform',
      status: {
        phase: 'Progressing',
        message: '1 plugin ready, 1 waiting: late at 7a2ad27f44',
        commit: COMMIT,
        plugins,
      },
    }),
    createPlugin({
      namespace,
      name: 'late',
      sync: 'platform',
      spec: { dependsOn: [{ name: 'web' }] },
      status: {
        phase: 'Waiting',
        message: 'waiting for web: not applied yet',
        waitingFor: ['web: not applied yet'],
        conditions: conditions({ Ready: 'False' }),
      },
    }),
    createPlugin({
      namespace,
      name: 'web',
      sync: 'platform',
      status: { ...ready('6 objects healthy'), revision: { commit: COMMIT, version: '7a2ad27f44' }, inventory, drift },
    }),
    createPlugin({ namespace, name: 'by-hand' }),
  ]);
  return namespace;
}

function configMap(namespace: string, name: string): Promise<KubeObject> {
  // One has lost its label, as drift may have it: it is found all the same.
  const labels = name === 'two' ? {} : { [LABEL.plugin]: 'web', [LABEL.pluginNamespace]: namespace };
  return testClient().create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels } });
}

async function failedJob(namespace: string): Promise<KubeObject> {
  const container = { name: 'main', image: 'example.com/main:1' };
  const job = await testClient().create({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'frontend', namespace },
    // Nobody runs it: its status is the test's.
    spec: { managedBy: 'example.com/nobody', template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  });
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'BackoffLimitExceeded',
    message: 'gave up',
    lastTransitionTime: '2026-11-18T09:00:00Z',
  });
  const status = { startTime: '2026-11-18T09:00:00Z', conditions: [condition('FailureTarget'), condition('Failed')] };
  return await testClient().patch(refOf(job), { status }, { type: 'merge', subresource: 'status' });
}

function entryOf(object: KubeObject): InventoryEntry {
  const { uid } = object.metadata;
  return { ...refOf(object), applied: 'hash', ...(uid === undefined ? {} : { uid }) };
}
