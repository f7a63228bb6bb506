import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deployment } from '../reconcile/scene.ts';
import { configMap, getSync, pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { ALL, startForgeScene } from './scene.ts';

const TWO = {
  'plugins/a.yaml': pluginYaml('a', 'a'),
  'a/one.yaml': configMap('a'),
  'plugins/b.yaml': pluginYaml('b', 'b'),
  'b/one.yaml': configMap('b'),
};

describe('commit statuses on a real Gitea', { concurrency: 4 }, () => {
  test('a push is pending, then success: one of each, and nothing more at rest or after a restart', async (t) => {
    const scene = await startForgeScene(t, { files: TWO });
    await scene.says(scene.repository.first, 'success');
    const before = await scene.history(scene.repository.first);
    const go = { apiVersion: 'v1', kind: 'ConfigMap', name: 'go' };
    const commit = await scene.push({
      'a/one.yaml': configMap('a', { a: '2' }),
      'plugins/c.yaml': pluginYaml('c', 'c', { dependsOn: [go] }),
      'c/one.yaml': configMap('c'),
    });
    await scene.says(commit, 'pending');
    const { name, ...kind } = go;
    await scene.client.create({ ...kind, metadata: { name, namespace: scene.namespace } });
    assert.equal(await scene.says(commit, 'success'), '3 plugins ready');
    const said = await scene.history(commit);
    assert.deepEqual(
      said.map((one) => one.split(':')[0]),
      ['pending', 'success'],
    );
    await scene.restartAgent();
    const next = await scene.push({ 'README.md': 'more\n' });
    await scene.says(next, 'success');
    assert.deepEqual(await scene.history(commit), said);
    assert.deepEqual(await scene.history(scene.repository.first), before);
    assert.equal(await scene.says(next, 'success', `${ALL}/drift`), 'the cluster is as declared');
  });

  test('success does not come before health, and a failure says why', async (t) => {
    const scene = await startForgeScene(t, { files: TWO });
    const commit = await scene.push({
      'plugins/web.yaml': pluginYaml('web', 'web', { timeout: '4s' }),
      'web/web.yaml': deployment('web', { minReadySeconds: 3_600, progressDeadlineSeconds: 7_200 }),
    });
    const why = await scene.says(commit, 'failure');
    assert.match(why, /^1 plugin failed: web \(not healthy within 4s: Deployment/);
    const [first, second, ...rest] = await scene.history(commit);
    assert.match(first ?? '', /^pending/);
    assert.match(second ?? '', /^failure/);
    assert.deepEqual(rest, []);
    const mended = await scene.push({ 'web/web.yaml': deployment('web') });
    assert.equal(await scene.says(mended, 'success'), '3 plugins ready');
  });

  test('D3: a file that can not be read is named with its line, while the others converge', async (t) => {
    const scene = await startForgeScene(t, { files: TWO });
    const commit = await scene.push({
      'plugins/b.yaml': 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: b}\nspec: {kind: ["\n',
      'a/one.yaml': configMap('a', { a: '2' }),
    });
    assert.match(await scene.says(commit, 'failure'), /^plugins\/b\.yaml:\d+:\d+: /);
    await eventually(async () => {
      const live = await scene.client.get({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: scene.namespace,
        name: 'a',
      });
      assert.deepEqual(live?.data, { a: '2' });
    });
  });

  test('three commits pushed at once each get their own statuses, and one for each plugin that they touched', async (t) => {
    const scene = await startForgeScene(t, { files: TWO, forge: { pluginStatuses: true } });
    const [first, second, third] = await scene.pushTogether([
      { 'a/one.yaml': configMap('a', { a: '3' }) },
      { 'README.md': 'changed\n' },
      { 'b/one.yaml': configMap('b', { a: '3' }) },
    ]);
    assert.ok(first && second && third);
    assert.equal(await scene.says(third, 'success'), '2 plugins ready');
    assert.equal(await scene.says(first, 'success'), '1 plugin ready: a');
    assert.equal(await scene.says(second, 'success'), `superseded by ${third.slice(0, 10)}: 2 plugins ready`);
    assert.equal(await scene.says(first, 'success', `${ALL}/plugin/a`), 'ready');
    assert.equal(await scene.says(third, 'success', `${ALL}/plugin/b`), 'ready');
    assert.equal((await scene.statuses(third))[`${ALL}/plugin/a`], undefined);
  });

  test('drift is told as its own context, with who did it, and again when it is over', async (t) => {
    const files = { ...TWO, 'plugins/b.yaml': pluginYaml('b', 'b', { drift: { mode: 'report' } }) };
    const scene = await startForgeScene(t, { files });
    const context = `${ALL}/drift`;
    const commit = scene.repository.first;
    await scene.says(commit, 'success', context);
    const before = await scene.history(commit);
    const edit = async (name: string, value: string) =>
      await scene.client.patch(
        { apiVersion: 'v1', kind: 'ConfigMap', namespace: scene.namespace, name },
        { data: { a: value } },
        { type: 'merge', fieldManager: 'kubectl-edit' },
      );
    await edit('a', 'by hand');
    const repaired = await eventually(async () => {
      const said = await scene.history(commit, context);
      assert.ok(said.length >= 3, said.join('\n'));
      return said;
    });
    assert.match(repaired[1] ?? '', /^failure: changed by hand: a: ConfigMap .*a .*data.*kubectl-edit/);
    assert.match(repaired[2] ?? '', /^success: repaired: a: ConfigMap .*a .*data.*kubectl-edit/);
    await edit('b', 'by hand');
    assert.match(await scene.says(commit, 'failure', context), /^changed by hand: b: ConfigMap/);
    await edit('b', '1');
    assert.equal(await scene.says(commit, 'success', context), 'the cluster is as declared again');
    assert.deepEqual(await scene.history(commit), before, 'drift is no news about the rollout');
  });

  test('two clusters on one repository answer side by side', async (t) => {
    const scene = await startForgeScene(t, { files: TWO });
    const other = await startForgeScene(t, {
      files: {},
      spec: {
        cluster: { name: 'other' },
        repository: {
          url: `${scene.repository.forge.url}/${scene.repository.name}.git`,
          ref: { branch: 'main' },
          secretRef: { name: 'forge' },
        },
      },
      until: undefined,
    });
    await scene.repository.addCollaborator(other.repository.agent.name, 'write');
    other.agent.lookNow();
    await scene.says(scene.repository.first, 'success', 'espalier/other');
    await scene.says(scene.repository.first, 'success');
    const commit = await scene.push({ 'a/one.yaml': configMap('a', { a: '2' }) });
    await scene.says(commit, 'success');
    other.agent.lookNow();
    await scene.says(commit, 'success', 'espalier/other');
    // What is done before the forge has heard that it began is not pending any more.
    for (const context of [ALL, 'espalier/other'])
      assert.match((await scene.history(commit, context)).join(), /^(pending: [^,]*,)?success: [^,]*$/);
  });

  test('R3: a revoked token stops answers and nothing else, says so, and a new one delivers the newest state', async (t) => {
    const scene = await startForgeScene(t, { files: TWO });
    await scene.says(scene.repository.first, 'success');
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace: scene.namespace, name: 'forge' };
    const put = async (token: string) =>
      await scene.client.patch(secret, { data: { token: Buffer.from(token).toString('base64') } }, { type: 'merge' });
    await put('revoked-0123456789');
    const commit = await scene.push({ 'a/one.yaml': configMap('a', { a: '2' }) });
    await eventually(async () => {
      const live = await scene.client.get({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: scene.namespace,
        name: 'a',
      });
      assert.deepEqual(live?.data, { a: '2' });
      const { status } = await getSync(scene.client, scene.namespace);
      const unanswered = status?.conditions?.find(({ type }) => type === 'Unanswered');
      assert.equal(unanswered?.reason, 'ForgeAuthFailed', JSON.stringify(status?.conditions));
      assert.equal(status?.phase, 'Ready');
      assert.ok(!JSON.stringify(status).includes('revoked-0123456789'));
    });
    assert.deepEqual(await scene.history(commit), []);
    await put(scene.repository.agent.token);
    await scene.says(commit, 'success');
    assert.deepEqual(await scene.history(commit), ['success: 2 plugins ready'], 'no pending afterwards');
    await eventually(async () => {
      const { status } = await getSync(scene.client, scene.namespace);
      assert.equal(
        status?.conditions?.find(({ type }) => type === 'Unanswered'),
        undefined,
      );
    });
  });

  test('a Sync that answers no more leaves no trouble behind that it had with its forge', async (t) => {
    const scene = await startForgeScene(t, { files: TWO, forge: { previews: false } });
    await scene.says(scene.repository.first, 'success', `${ALL}/drift`);
    const { client, namespace } = scene;
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'forge' };
    await client.patch(secret, { data: { token: Buffer.from('revoked').toString('base64') } }, { type: 'merge' });
    await scene.push({ 'a/one.yaml': configMap('a', { a: '2' }) });
    const unanswered = async () =>
      (await getSync(client, namespace)).status?.conditions?.find(({ type }) => type === 'Unanswered')?.reason;
    await eventually(async () => assert.equal(await unanswered(), 'ForgeAuthFailed'));
    const sync = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Sync', namespace, name: 'sync' };
    await client.patch(sync, { spec: { forge: { statuses: false } } }, { type: 'merge' });
    await eventually(async () => assert.equal(await unanswered(), undefined));
  });
});
