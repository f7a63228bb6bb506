import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { planSource } from '../../../src/cli/plan-source.ts';
import type { Plan } from '../../../src/plan/whole.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { tempDir } from '../../support/tempdir.ts';
import { startPlatform } from '../support/platform.ts';
import { ALL_IN_ONE, allInOne, apps, plugins } from './support/all-in-one.ts';

describe('a plan', { concurrency: 3 }, () => {
  test('shows what happens inside of a chart: new ones, changed ones, those that go; the agent does just that', async (t) => {
    const before = {
      ...ALL_IN_ONE,
      ...apps('one', 'two', 'three', 'four'),
      'plugins/all.yaml': allInOne(plugins('one', 'two', 'three')),
    };
    const platform = await startPlatform(t, { prefix: 'nested', files: before });
    await platform.settles();
    const { client, namespace } = platform;
    const plan = (files: Record<string, string>) => planOf(t, { client, namespace, files });

    assert.deepEqual(stepsOf(await plan(before), namespace), {});
    const folder = { 'apps/one/objects.yaml': configMap('one', { a: '2' }) };
    assert.deepEqual(stepsOf(await plan({ ...before, ...folder }), namespace), {
      'one (in all)': ['change ConfigMap one'],
    });
    const after = { ...folder, 'plugins/all.yaml': allInOne(plugins('one', 'three', 'four')) };
    const planned = await plan({ ...before, ...after });
    assert.deepEqual(planned.faults, []);
    assert.deepEqual(planned.held, []);
    assert.deepEqual(stepsOf(planned, namespace), {
      all: ['delete Plugin two', 'create Plugin four'],
      'one (in all)': ['change ConfigMap one'],
      'two (in all)': ['delete ConfigMap two'],
      'four (in all)': ['create ConfigMap four'],
    });

    const few = await plan({ ...before, 'plugins/all.yaml': allInOne(plugins('one')) });
    assert.deepEqual(
      few.held.map(({ plugin, reason }) => [plugin, reason]),
      [[`${namespace}/all`, '2 of 3 nested plugins would be removed: more than 50 %']],
    );
    const none = await plan({ ...before, 'plugins/all.yaml': pluginYaml('other', 'apps/four') });
    assert.deepEqual(stepsOf(none, namespace)['one (in all)'], ['delete ConfigMap one']);
    assert.match(none.held[0]?.reason ?? '', /4 of 4 plugins would be removed/);

    await platform.push(after);
    await platform.settles();
    assert.equal(await platform.exists('four'), true);
    await platform.isGone('ConfigMap', 'two');
  });

  test('tells what can not be, where it is', async (t) => {
    const after = (name: string) => ({ spec: { dependsOn: [{ name }] } });
    const values = {
      plugins: {
        one: after('two'),
        two: after('one'),
        far: { spec: { namespace: { name: 'kube-system' } } },
        odd: { spec: { timeout: 'soon' } },
        twice: {},
        all: {},
      },
    };
    const inner = { ...values, plugins: { ...values.plugins, all: undefined } };
    const platform = await startPlatform(t, {
      prefix: 'nested',
      files: { 'README.md': 'nothing yet' },
      spec: { allowedNamespaces: [] },
    });
    await platform.settles();
    const { client, namespace } = platform;
    const files = {
      ...ALL_IN_ONE,
      ...apps('one', 'two', 'far', 'odd', 'twice', 'self'),
      'plugins/all.yaml': allInOne(inner),
      'plugins/twice.yaml': pluginYaml('twice', 'apps/twice'),
    };
    const told = (await planOf(t, { client, namespace, files })).faults;
    const faultOf = (name: string) => told.find(({ plugin }) => plugin === `${namespace}/${name}`)?.message ?? '';
    assert.match(faultOf('one'), /circle: one → two → one/);
    assert.match(faultOf('far'), /the namespace "kube-system" is not among spec.allowedNamespaces/);
    assert.match(faultOf('odd'), /as Plugin .*all renders it: \/spec\/timeout/);
    assert.match(faultOf('twice'), /all renders it, and the repository declares it too/);
    const self = await planOf(t, { client, namespace, files: { ...files, 'plugins/all.yaml': allInOne(values) } });
    assert.match(self.faults.map(({ message }) => message).join(), /it renders itself: a Plugin can't install/);
  });
});

async function planOf(
  t: Parameters<typeof tempDir>[0],
  {
    client,
    namespace,
    files,
  }: Pick<Parameters<typeof planSource>[0], 'client' | 'namespace'> & { files: Record<string, string> },
): Promise<Plan> {
  const source = await tempDir(t);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), text);
  }
  return await planSource({ client, namespace, source, flags: {}, progress: () => undefined });
}

/** What a plan does by Plugin; those of which nothing changes are left out. */
function stepsOf({ plugins: planned }: Plan, namespace: string): Record<string, string[]> {
  const steps = planned.map(({ plugin, nestedIn, objects }) => {
    const title = nestedIn === undefined ? plugin.name : `${plugin.name} (in ${nestedIn.replace(`${namespace}/`, '')})`;
    const done = objects.filter(({ action }) => action !== 'unchanged');
    return [
      title,
      done
        .map(({ action, ref }) => `${action} ${ref.kind} ${ref.name}`)
        .toSorted()
        .toReversed(),
    ] as const;
  });
  return Object.fromEntries(steps.filter(([, done]) => done.length > 0).map(([title, done]) => [title, [...done]]));
}
