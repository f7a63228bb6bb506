import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ALL_IN_ONE, allInOne, apps, plugins } from '../cases/nested/support/all-in-one.ts';
import { deployment } from '../reconcile/scene.ts';
import { configMap, getPlugin, getSync, pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { ALL, type ForgeScene, startForgeScene } from './scene.ts';

const PLAN = `${ALL}/plan`;
const FILES = {
  'plugins/a.yaml': pluginYaml('a', 'a'),
  'a/one.yaml': configMap('a-one'),
  'a/two.yaml': configMap('a-two'),
  'plugins/b.yaml': pluginYaml('b', 'b'),
  'b/one.yaml': configMap('b'),
};

/** The agent's comment on a pull request, once it says this. */
async function commentSays(scene: ForgeScene, number: number, text: RegExp): Promise<string> {
  return await eventually(
    async () => {
      const own = (await scene.repository.comments(number)).filter(
        ({ author }) => author === scene.repository.agent.name,
      );
      const [first, ...more] = own;
      assert.equal(more.length, 0, 'one comment, updated in place');
      if (first !== undefined && text.test(first.body)) return first.body;
      const { status } = await getSync(scene.client, scene.namespace);
      throw new Error(`${first?.body ?? 'no comment'}\n${JSON.stringify(status?.conditions)}`);
    },
    { timeoutMs: 90_000 },
  );
}

describe('plans on pull requests on a real Gitea', { concurrency: 4 }, () => {
  test('a pull request shows what the merge would do; the merge does it, and says so', async (t) => {
    const scene = await startForgeScene(t, { files: FILES });
    const { repository } = scene;
    const head = await repository.push(
      {
        'a/one.yaml': configMap('a-one', { a: '2' }),
        'a/two.yaml': null,
        'plugins/c.yaml': pluginYaml('c', 'c'),
        'c/web.yaml': deployment('web', { image: 'registry.example.com/app:7' }),
      },
      { branch: 'topic' },
    );
    const { number } = await repository.openPull({ branch: 'topic' });
    const comment = await commentSays(scene, number, /2 plugins: 1 to create, 1 to change, 1 to delete/);
    assert.match(comment, /~?\s+ConfigMap test-\w+\/a-one/);
    assert.match(comment, /data\.a: "?1"? → "?2"?/);
    assert.match(comment, /- ConfigMap test-\w+\/a-two/);
    assert.match(comment, /new image: registry\.example\.com\/app:7/);
    assert.doesNotMatch(comment, /<code>[^<]*&#47;b<|ConfigMap test-\w+\/b$/m, 'what is not touched is not told');
    assert.match(await scene.says(head, 'success', PLAN), /^2 plugins: 1 to create, 1 to change, 1 to delete/);
    assert.equal(
      await scene.client.get({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: scene.namespace, name: 'web' }),
      undefined,
    );

    const merge = await repository.mergePull(number);
    assert.equal(await scene.says(merge, 'success'), '3 plugins ready');
    const { status } = await getSync(scene.client, scene.namespace);
    assert.equal(status?.commit, merge);
  });

  test('what happens inside of a chart is shown, and done; success comes when that is healthy', async (t) => {
    const all = (...names: string[]) => ({ 'plugins/all.yaml': allInOne(plugins(...names)) });
    const scene = await startForgeScene(t, {
      files: { ...ALL_IN_ONE, ...apps('one', 'two', 'three'), ...all('one', 'two') },
    });
    const { repository } = scene;
    await repository.push(
      { ...all('one', 'three'), 'apps/one/objects.yaml': configMap('one', { a: '2' }) },
      { branch: 'topic' },
    );
    const { number } = await repository.openPull({ branch: 'topic' });
    const comment = await commentSays(scene, number, /4 plugins: 2 to create, 1 to change, 2 to delete/);
    assert.match(comment, /one &#40;in .*all&#41;/);
    assert.match(comment, /- ConfigMap .*two/);
    const merge = await repository.mergePull(number);
    assert.equal(await scene.says(merge, 'success'), '3 plugins ready');

    await repository.push({ 'apps/three/objects.yaml': configMap('three', { a: '3' }) }, { branch: 'folder' });
    const second = await repository.openPull({ branch: 'folder' });
    await commentSays(scene, second.number, /2 plugins: 1 to change/);
    assert.equal(await scene.says(await repository.mergePull(second.number), 'success'), '3 plugins ready');
  });

  test('what is done otherwise than it was shown is told on the merge', async (t) => {
    const scene = await startForgeScene(t, { files: FILES });
    const { client, namespace, repository } = scene;
    const plugin = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', namespace, name: 'a' };
    const { metadata } = await client.patch(plugin, { spec: { drift: { mode: 'ignore' } } }, { type: 'merge' });
    await eventually(async () =>
      assert.equal((await getPlugin(client, namespace, 'a'))?.status?.observedGeneration, metadata.generation),
    );
    await repository.push({ 'a/one.yaml': configMap('a-one', { a: '2' }) }, { branch: 'topic' });
    const { number } = await repository.openPull({ branch: 'topic' });
    await commentSays(scene, number, /1 to change/);
    // Somebody takes the object away, the agent leaves it at that, and the merge makes it anew.
    await client.delete({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'a-one' });
    const merge = await repository.mergePull(number, 'squash');
    const said = await scene.says(merge, 'success');
    const otherwise = `differs from the plan of #${number}: ConfigMap ${namespace}/a-one: create, not change`;
    // Where the merge took seconds, the plan was brought up to date before it.
    if (!said.includes(otherwise)) await commentSays(scene, number, /1 to create/);
  });

  test('a new push, a move of the base and a reopening change the one comment; a fault is told with file and line', async (t) => {
    const scene = await startForgeScene(t, { files: FILES });
    const { repository } = scene;
    await repository.push({ 'a/one.yaml': configMap('a-one', { a: '2' }) }, { branch: 'topic' });
    const { number } = await repository.openPull({ branch: 'topic' });
    await commentSays(scene, number, /1 plugin: 1 to change/);
    const broken = await repository.push(
      { 'plugins/a.yaml': 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: a}\nspec: {kind: 7}\n' },
      { branch: 'topic' },
    );
    assert.match(await scene.says(broken, 'failure', PLAN), /^plugins\/a\.yaml:4:\d+: /);
    await commentSays(scene, number, /0 plugins: \d faults/);
    await repository.closePull(number);
    await eventually(async () => {
      const { status } = await getSync(scene.client, scene.namespace);
      assert.equal(status?.pullRequests?.[0]?.closed, true);
    });
    // Not before it is pushed to: of a closed pull request Gitea's API forgets what is pushed.
    await repository.reopenPull(number);
    await eventually(async () => {
      const { status } = await getSync(scene.client, scene.namespace);
      assert.equal(status?.pullRequests?.[0]?.closed, undefined);
    });
    const forced = await repository.push(
      { 'b/two.yaml': configMap('b-two') },
      { branch: 'topic', parent: repository.first, force: true },
    );
    await scene.says(forced, 'success', PLAN);
    await commentSays(scene, number, /1 plugin: 1 to create/);
    // The base gets the same object by another way: nothing is left to do.
    await scene.push({ 'b/two.yaml': configMap('b-two') });
    await commentSays(scene, number, /0 plugins: no changes/);
    const main = await scene.push({ 'b/two.yaml': configMap('b-two', { a: 'other' }) });
    assert.match(await scene.says(forced, 'failure', PLAN), /does not merge: both sides changed b\/two\.yaml/);
    // Rebased onto that, it has something to say again.
    const rebased = await repository.push(
      { 'b/two.yaml': configMap('b-two', { a: 'mine' }) },
      { branch: 'topic', parent: main, force: true },
    );
    assert.match(await scene.says(rebased, 'success', PLAN), /^1 plugin: 1 to change/);
  });

  test('a comment that a person deleted is written again with the next change', async (t) => {
    const scene = await startForgeScene(t, { files: FILES });
    const { repository } = scene;
    await repository.push({ 'a/one.yaml': configMap('a-one', { a: '2' }) }, { branch: 'topic' });
    const { number } = await repository.openPull({ branch: 'topic' });
    await commentSays(scene, number, /1 to change/);
    for (const { id } of await repository.comments(number)) await repository.deleteComment(id);
    await repository.push({ 'a/three.yaml': configMap('a-three') }, { branch: 'topic' });
    await commentSays(scene, number, /1 to create, 1 to change/);
  });

  test('approval in the forge: who may push says yes to the plan, and the merge goes ahead without a hand', async (t) => {
    const files = {
      ...FILES,
      'plugins/a.yaml': pluginYaml('a', 'a', { upgrade: { approval: 'required' } }),
    };
    const scene = await startForgeScene(t, { files });
    const { repository } = scene;
    const head = await repository.push({ 'a/one.yaml': configMap('a-one', { a: '2' }) }, { branch: 'topic' });
    const { number } = await repository.openPull({ branch: 'topic' });
    await commentSays(scene, number, new RegExp(`Held[\\s\\S]*comment "/espalier approve ${head.slice(0, 10)}"`));
    const stranger = await scene.person('mallory', 'read');
    await repository.as(stranger).comment(number, '/espalier approve');
    await repository.comment(number, `/espalier approve ${repository.first.slice(0, 10)}`);
    await repository.comment(number, 'I would not `/espalier approve` this');
    const pushed = await repository.push({ 'a/two.yaml': configMap('a-two', { a: '2' }) }, { branch: 'topic' });
    await scene.says(pushed, 'success', PLAN);
    await repository.comment(number, `/espalier approve ${pushed.slice(0, 10)}`);
    await commentSays(scene, number, new RegExp(`Approved by .${repository.owner.name}. for .${pushed.slice(0, 10)}`));
    const merge = await repository.mergePull(number);
    assert.equal(await scene.says(merge, 'success'), '2 plugins ready');
    const next = await scene.push({ 'a/one.yaml': configMap('a-one', { a: '3' }) });
    await eventually(async () => assert.match((await scene.history(next)).at(-1) ?? '', /^pending: .*1 held: a/), {
      timeoutMs: 60_000,
    });
  });

  test('a removal that is held is approved with the plan, whatever way it is merged', async (t) => {
    const files = { ...FILES, 'plugins/c.yaml': pluginYaml('c', 'c'), 'c/one.yaml': configMap('c') };
    const scene = await startForgeScene(t, { files });
    const { repository } = scene;
    const head = await repository.push({ 'plugins/b.yaml': null, 'plugins/c.yaml': null }, { branch: 'topic' });
    const { number } = await repository.openPull({ branch: 'topic' });
    await commentSays(
      scene,
      number,
      /2 of 3 plugins would be removed: more than 50 %[\s\S]*2 to delete|2 to delete[\s\S]*more than 50 %/,
    );
    await repository.comment(number, `/espalier approve ${head}`);
    await commentSays(scene, number, /Approved by/);
    const merge = await repository.mergePull(number, 'squash');
    assert.equal(await scene.says(merge, 'success'), '1 plugin ready');
    assert.equal(
      await scene.client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: scene.namespace, name: 'c' }),
      undefined,
    );
  });

  test('S20: a fork is left alone; asked for by somebody entitled, that very commit is planned without credentials', async (t) => {
    const scene = await startForgeScene(t, { files: FILES, forge: { forks: 'asked' } });
    const { repository } = scene;
    const outsider = await scene.person('outsider', 'read');
    const fork = await repository.as(outsider).fork();
    const head = await fork.push(
      {
        'plugins/a.yaml': pluginYaml('a', 'a', { valuesFrom: [{ kind: 'Secret', name: 'forge' }] }),
        'b/one.yaml': configMap('b', { a: 'fork' }),
      },
      { branch: 'theirs' },
    );
    const { number } = await repository.as(outsider).openPull({ branch: `${outsider.name}:theirs` });
    await repository.as(outsider).comment(number, `/espalier plan ${head}`);
    await repository.push({ 'b/one.yaml': configMap('b', { a: 'own' }) }, { branch: 'own' });
    const own = await repository.openPull({ branch: 'own' });
    await commentSays(scene, own.number, /1 to change/);
    assert.deepEqual(await scene.history(head, PLAN), []);
    await repository.comment(number, `/espalier plan ${head.slice(0, 12)}`);
    const comment = await commentSays(scene, number, /values from Secret/);
    assert.match(comment, /data\.a: "?1"? → "?fork"?/);
    const next = await fork.push({ 'b/one.yaml': configMap('b', { a: 'later' }) }, { branch: 'theirs' });
    await repository.push({ 'b/one.yaml': configMap('b', { a: 'own2' }) }, { branch: 'own' });
    await commentSays(scene, own.number, /own2/);
    assert.deepEqual(await scene.history(next, PLAN), []);
  });

  test('S26 and S17: names that look like markup stay text, and secret values stay out of comments', async (t) => {
    const canary = 'canary-7f3a9b1c5d';
    const secret = (value: string): string =>
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { password: value } });
    const scene = await startForgeScene(t, { files: { ...FILES, 'b/secret.yaml': secret(`${canary}-old`) } });
    const { repository } = scene;
    const markup = '<img src=x onerror=alert(1)> [x](javascript:alert(1)) @admin';
    const head = await repository.push(
      { 'b/secret.yaml': secret(`${canary}-new`), 'a/one.yaml': configMap('a-one', { a: markup }) },
      { branch: 'topic' },
    );
    const { number } = await repository.openPull({ branch: 'topic' });
    const comment = await commentSays(scene, number, /2 plugins: 2 to change/);
    for (const form of [
      canary,
      Buffer.from(`${canary}-new`).toString('base64'),
      Buffer.from(`${canary}-old`).toString('base64'),
    ])
      assert.ok(!comment.includes(form), form);
    assert.match(comment, /•••/);
    const outside = comment.replace(/^(`{3,})[a-z]*\n[\s\S]*?\n\1$/gm, '');
    assert.ok(!outside.includes('onerror') && !outside.includes('javascript'), outside);
    await scene.says(head, 'success', PLAN);
  });
});
