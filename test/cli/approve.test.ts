import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ANNOTATION, API_VERSION, type SyncStatus } from '../../src/api/index.ts';
import { installKinds } from '../api/install.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { espalier } from './support/espalier.ts';
import { COMMIT, conditions, createPlugin, createSync, ready } from './support/objects.ts';

const OLDER = '1111111111111111111111111111111111111111';

before(() => installKinds(testClient()));

describe('espalier approve', { concurrency: 3 }, () => {
  test('without a commit shows what is held, of the Sync and its Plugins, and the very commands that approve it', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform', status: held(namespace) });
    await heldPlugin(namespace, 'web', 'ApprovalRequired');
    await heldPlugin(namespace, 'empty', 'RendersNothing');
    const { code, stdout, stderr } = await espalier(['approve', 'platform', '-n', namespace]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      [
        'sync/platform is held: 3 of 4 plugins would be removed: more than 50 %',
        '  - Plugin dns',
        '  - Plugin ingress',
        `Approve: espalier approve sync/platform -n ${namespace} --commit ${COMMIT}`,
        '',
        'plugin/empty is held: its change waits',
        '',
        'plugin/web is held: its change waits',
        `Approve: espalier approve plugin/web -n ${namespace} --commit ${OLDER}`,
        '',
      ].join('\n'),
    );
    assert.equal(await approvalOf(namespace, 'Sync', 'platform'), undefined);
  });

  test('takes the beginning of the held commit, and writes all of it', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform', status: held(namespace) });
    const ended = await espalier(['approve', 'sync/platform', '-n', namespace, '--commit', '7A2AD27']);
    assert.deepEqual(ended, { code: 0, stdout: `sync/platform approved for commit ${COMMIT}\n`, stderr: '' });
    assert.equal(await approvalOf(namespace, 'Sync', 'platform'), COMMIT);
  });

  test('refuses another commit, and says which could be approved', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform', status: held(namespace) });
    for (const commit of ['deadbeef', 'f'.repeat(40), '7a', 'main']) {
      const { code, stderr } = await espalier(['approve', 'platform', '-n', namespace, '--commit', commit]);
      assert.equal(code, 64, commit);
      assert.match(stderr, /what can be approved is 7a2ad27f44|give its id, or at least 4 digits/);
    }
    assert.equal(await approvalOf(namespace, 'Sync', 'platform'), undefined);
  });

  test('a Plugin is approved for its own commit, or for the one that its Sync saw', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform', status: { ...ready('fine'), observed: { commit: COMMIT } } });
    await heldPlugin(namespace, 'web', 'PruneHeld');
    for (const commit of [OLDER, COMMIT]) {
      const { code } = await espalier(['approve', 'plugin/web', '-n', namespace, '--commit', commit.slice(0, 8)]);
      assert.equal(code, 0);
      assert.equal(await approvalOf(namespace, 'Plugin', 'web'), commit);
    }
  });

  test('where nothing is held it says so', async (t) => {
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform', status: { ...ready('fine'), observed: { commit: COMMIT } } });
    const shown = await espalier(['approve', 'platform', '-n', namespace]);
    assert.deepEqual(shown, { code: 0, stdout: '', stderr: 'Nothing of sync/platform is held.\n' });
    const given = await espalier(['approve', 'platform', '-n', namespace, '--commit', COMMIT]);
    assert.equal(given.code, 0);
    assert.match(given.stderr, /Nothing is held at this commit/);
  });
});

function held(namespace: string): SyncStatus {
  const approve = `approve: espalier approve platform -n ${namespace} --commit ${COMMIT}`;
  return {
    phase: 'Held',
    message: 'held',
    conditions: conditions({ Ready: 'False', Held: 'True' }, 'PruneHeld'),
    observed: { commit: COMMIT },
    held: {
      commit: COMMIT,
      reason: `3 of 4 plugins would be removed: more than 50 %; ${approve}`,
      objects: ['Plugin dns', 'Plugin ingress'],
    },
  };
}

async function heldPlugin(namespace: string, name: string, reason: string): Promise<void> {
  await createPlugin({
    namespace,
    name,
    sync: 'platform',
    spec: { source: { git: { path: name, commit: OLDER } } },
    status: {
      phase: 'Held',
      message: `its change waits; approve it: espalier approve platform -n ${namespace} --commit ${OLDER}`,
      conditions: conditions({ Ready: 'False', Held: 'True' }, reason),
    },
  });
}

async function approvalOf(namespace: string, kind: string, name: string): Promise<string | undefined> {
  const object = await testClient().get({ apiVersion: API_VERSION, kind, namespace, name });
  return object?.metadata.annotations?.[ANNOTATION.approve];
}
