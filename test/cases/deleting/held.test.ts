import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { always } from '../../support/eventually.ts';
import { type Platform, startPlatform } from '../support/platform.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

const pluginFiles = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)]));
const appFiles = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`apps/${name}/cm.yaml`, configMap(name)]));
const without = (names: readonly string[]) => Object.fromEntries(names.map((name) => [`plugins/${name}.yaml`, null]));

async function five(t: Parameters<typeof startPlatform>[0]): Promise<Platform> {
  const platform = await startPlatform(t, { files: { ...pluginFiles(NAMES), ...appFiles(NAMES) } });
  await platform.settles();
  return platform;
}

async function existing(platform: Platform, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(names.map(async (name) => ((await platform.exists(name)) ? name : undefined)));
  return found.filter((name) => name !== undefined);
}

test('D7: a commit that removes 60 % of the plugins is held; approving another commit changes nothing, approving it goes on', async (t) => {
  const platform = await five(t);
  const first = platform.commit;

  const commit = await platform.push({ ...without(['a', 'b', 'c']), 'apps/d/cm.yaml': configMap('d', { a: '2' }) });
  const held = await platform.reaches('Held');
  assert.equal(held.status?.held?.commit, commit);
  assert.deepEqual(
    held.status?.held?.objects,
    ['a', 'b', 'c'].map((name) => `Plugin ${platform.namespace}/${name}`),
  );
  assert.match(held.status?.message ?? '', /3 of 5 plugins would be removed: more than 50 %/);
  await platform.pluginReaches('d', 'Ready');
  assert.deepEqual((await platform.get('ConfigMap', 'd'))?.data, { a: '2' }, 'what only changes goes on meanwhile');

  const almost = commit.slice(0, 39) + (commit.endsWith('0') ? '1' : '0');
  for (const other of [first, commit.slice(0, 12), almost, 'true']) {
    await platform.approve(other);
    await always(async () => assert.deepEqual(await existing(platform, NAMES), NAMES), { forMs: 300 });
  }
  assert.equal((await platform.sync()).status?.phase, 'Held');

  await platform.restart();
  await always(async () => assert.deepEqual(await existing(platform, NAMES), NAMES), { forMs: 300 });
  await platform.reaches('Held');

  await platform.approve(commit);
  const sync = await platform.settles();
  assert.deepEqual(await existing(platform, NAMES), ['d', 'e']);
  assert.equal(sync.status?.approved, commit);
  assert.equal(sync.status?.held, undefined);
});

test('D7: what a held commit would remove stays held by the commits after it, whatever they add, until one declares it again', async (t) => {
  const platform = await five(t);
  const more = ['f', 'g', 'h', 'i', 'j'];
  const first = await platform.push({ ...without(['a', 'b', 'c']), ...pluginFiles(more), ...appFiles(more) });
  const held = await platform.reaches('Held');
  assert.match(
    held.status?.message ?? '',
    /3 of 5 plugins would be removed/,
    'new plugins do not make it a small share',
  );

  const second = await platform.push({ 'README.md': 'nothing to do with it' });
  await platform.reaches('Held');
  await platform.approve(first);
  await always(async () => assert.deepEqual(await existing(platform, NAMES), NAMES), { forMs: 500 });
  assert.equal((await platform.sync()).status?.held?.commit, second);

  await platform.restart();
  await platform.push({ 'README.md': 'nothing to do with it either' });
  await platform.reaches('Held');
  assert.deepEqual(await existing(platform, NAMES), NAMES);

  await platform.push(pluginFiles(['a', 'b', 'c']));
  await platform.settles();
  assert.deepEqual(await existing(platform, [...NAMES, ...more]), [...NAMES, ...more]);
});

test('D7: removals after history was rewritten wait, also by the commits that follow, while changes go on', async (t) => {
  const platform = await five(t);
  const rewritten = await platform.push(
    { ...pluginFiles(NAMES.slice(1)), ...appFiles(NAMES), 'apps/b/cm.yaml': configMap('b', { a: '2' }) },
    { parent: null },
  );
  const held = await platform.reaches('Held');
  assert.match(held.status?.message ?? '', /1 of 5 plugins would be removed, and the branch was rewritten/);
  await platform.pluginReaches('b', 'Ready');
  assert.deepEqual((await platform.get('ConfigMap', 'b'))?.data, { a: '2' });

  await platform.push({ 'README.md': 'an ordinary commit on top' });
  await platform.reaches('Held');
  await platform.approve(rewritten);
  await always(async () => assert.ok(await platform.exists('a')), { forMs: 500 });

  await platform.restart();
  const next = await platform.push({ 'README.md': 'one more, to an agent that has seen nothing of it' });
  await platform.reaches('Held');
  assert.ok(await platform.exists('a'));

  await platform.approve(next);
  await platform.settles();
  await platform.isGone('ConfigMap', 'a');
  await platform.push(without(['b']));
  await platform.settles();
  await platform.isGone('ConfigMap', 'b');
});

test('D7: a commit that deletes many objects of one plugin waits for an approval that names it', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 6 }, (_, index) => [`apps/a/o${index}.yaml`, configMap(`o${index}`)]),
  );
  const platform = await startPlatform(t, {
    files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), ...files },
    spec: { prune: { hold: { count: 3 } } },
  });
  await platform.settles();
  const first = platform.commit;
  const dropped = ['o1', 'o2', 'o3', 'o4'];

  const commit = await platform.push(Object.fromEntries(dropped.map((name) => [`apps/a/${name}.yaml`, null])));
  const held = await platform.pluginReaches('a', 'Held');
  assert.match(
    held.status?.message ?? '',
    new RegExp(`delete 4 objects, more than 3; approve it: .* --commit ${commit}`),
  );
  await platform.approve(first);
  await always(async () => assert.deepEqual(await existing(platform, dropped), dropped), { forMs: 500 });
  await platform.approve(`${first},${commit}`);
  await platform.settles();
  assert.deepEqual(await existing(platform, ['o0', ...dropped, 'o5']), ['o0', 'o5']);
});
