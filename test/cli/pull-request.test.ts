import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runCli } from '../../src/cli/run.ts';
import type { PlanDocument } from '../../src/plan/json-form.ts';
import { startForgeScene } from '../forge/scene.ts';
import { configMap, pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { testPerson } from '../support/gitea.ts';
import { type Ended, espalier } from './support/espalier.ts';
import { type Followed, startFollowed } from './support/followed.ts';

const FILES = {
  'plugins/a.yaml': pluginYaml('a', 'a'),
  'a/one.yaml': configMap('a-one'),
  'a/two.yaml': configMap('a-two'),
  'plugins/b.yaml': pluginYaml('b', 'b'),
  'b/one.yaml': configMap('b'),
};

for (const [args, message] of [
  [['plan', '.', '--pr', '3'], /give a source or --pr, not both/],
  [['diff', '--pr', '3', 'https://git.example.com/a.git'], /give a source or --pr, not both/],
  [['plan', '--pr', '0'], /--pr: "0" is no number of a pull request/],
  [['plan', '--pr', 'topic'], /--pr: "topic" is no number of a pull request/],
  [['plan', '--pr', '3', '--ref', 'topic'], /--ref is for a Git URL/],
  [['plan', '--pr', '3', '--path', 'platform'], /--path is for a source/],
  [['plan', '--fork'], /--fork is about a pull request: say which with --pr/],
] satisfies [string[], RegExp][]) {
  // In this process, for no cluster is asked.
  test(`espalier "${args.join(' ')}" is wrong usage: 64, and what to say instead`, async (t) => {
    const { mock } = t.mock.method(process.stderr, 'write', () => true);
    const code = await runCli(args);
    const stderr = mock.calls.map((call) => call.arguments[0]).join('');
    mock.restore();
    assert.match(stderr, message);
    assert.equal(code, 64);
  });
}

describe('espalier plan --pr, on a real Gitea,', { concurrency: 3 }, () => {
  test('prints what the comment of the agent says, in every form, with the exit codes of plan and diff', async (t) => {
    const scene = await startForgeScene(t, { files: FILES });
    const { repository, namespace } = scene;
    const head = await repository.push(
      {
        'a/one.yaml': configMap('a-one', { a: '2' }),
        'a/two.yaml': null,
        'plugins/c.yaml': pluginYaml('c', 'c'),
        'c/one.yaml': configMap('c'),
      },
      { branch: 'topic' },
    );
    const { number } = await repository.openPull({ branch: 'topic', title: 'Tidy \u001b[31mup' });
    const pull = ['--pr', String(number), '-n', namespace];
    const comment = await eventually(
      async () => {
        const [first] = await repository.comments(number);
        assert.match(first?.body ?? '', /2 plugins/);
        return first?.body ?? '';
      },
      { timeoutMs: 80_000 },
    );

    const markdown = await ended(0, ['plan', ...pull, '-o', 'markdown']);
    assert.equal(contentOf(markdown.stdout), contentOf(comment));
    assert.match(
      markdown.stdout,
      new RegExp(`Head .${head.slice(0, 10)}. merged into .${repository.first.slice(0, 10)}`),
    );
    const about = `#${number} "Tidy \\u001b[31mup" by ${repository.owner.name}: ${head.slice(0, 10)} merged into main at ${repository.first.slice(0, 10)}\n`;
    assert.equal(markdown.stderr, about);

    const text = await ended(2, ['plan', ...pull, '--detailed-exitcode']);
    assert.match(text.stdout, /~ ConfigMap test-\w+\/a-one\n\s+~ data\.a: "?1"? → "?2"?\n/);
    assert.match(text.stdout, /- ConfigMap test-\w+\/a-two/);
    assert.match(text.stdout, /\n2 plugins: 1 to create, 1 to change, 1 to delete\n$/);
    const only = await ended(1, ['diff', ...pull, '--plugin', 'c', '-o', 'json']);
    const document = JSON.parse(only.stdout) as PlanDocument;
    assert.deepEqual(
      document.plugins.map(({ name, summary }) => [name, summary.create, summary.change]),
      [['c', 1, 0]],
    );
    assert.equal(document.commit.head, head);
    assert.match(
      (await ended(64, ['plan', ...pull, '--plugin', 'z'])).stderr,
      /no Plugin "z" here; there are: a, b, c/,
    );
    assert.equal(
      await scene.client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'c' }),
      undefined,
      'nothing is written',
    );
  });

  test('what can not be merged, and what does not compile, are faults of the plan', async (t) => {
    const { namespace, repository } = await startFollowed(t, { files: FILES });
    await repository.push({ 'a/one.yaml': configMap('a-one', { a: 'topic' }) }, { branch: 'topic' });
    const conflict = await repository.openPull({ branch: 'topic' });
    const broken = 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: b}\nspec: {kind: 7}\n';
    await repository.push({ 'plugins/b.yaml': broken }, { branch: 'broken' });
    const faulty = await repository.openPull({ branch: 'broken' });
    await repository.push({ 'a/one.yaml': configMap('a-one', { a: 'main' }) });

    const first = await ended(1, ['plan', '--pr', String(conflict.number), '-n', namespace]);
    assert.match(first.stdout, /✗ does not merge: both sides changed a\/one\.yaml; merge or rebase onto the base/);
    const second = await ended(1, ['plan', '--pr', `#${faulty.number}`, '-n', namespace, '--sync', 'sync']);
    assert.match(second.stdout, /✗ plugins\/b\.yaml:4:\d+: /);
  });

  test('a pull request that would change nothing here is refused, with why', async (t) => {
    const { namespace, repository } = await startFollowed(t, { files: FILES });
    const change = (branch: string) => repository.push({ [`a/${branch}.yaml`]: configMap(branch) }, { branch });
    await change('closed');
    const closed = await repository.openPull({ branch: 'closed' });
    await repository.closePull(closed.number);
    await change('merged');
    const merged = await repository.openPull({ branch: 'merged' });
    await repository.mergePull(merged.number);
    await change('release');
    await change('topic');
    const other = await repository.openPull({ branch: 'topic', base: 'release' });
    const plan = (number: number) => ended(2, ['plan', '--pr', String(number), '-n', namespace]);
    assert.match((await plan(closed.number)).stderr, /#\d+ is closed already: there is nothing left to plan/);
    assert.match((await plan(merged.number)).stderr, /#\d+ is merged already/);
    assert.match(
      (await plan(other.number)).stderr,
      /#\d+ is to be merged into release, but sync\/sync follows main: merging it would change nothing in this cluster/,
    );
    assert.match((await plan(4711)).stderr, /platform\.git has no pull request #4711\n/);
    const failed = await ended(1, ['plan', '--pr', '4711', '-n', namespace, '--detailed-exitcode']);
    assert.match(failed.stderr, /has no pull request #4711/);
  });

  test('a Sync that follows a commit, has no forge, or whose login is no good is told so', async (t) => {
    const fixed = await startFollowed(t, { files: FILES });
    await fixed.repository.push({ 'a/new.yaml': configMap('new') }, { branch: 'topic' });
    const { number } = await fixed.repository.openPull({ branch: 'topic' });
    const plan = async (what: Followed) =>
      (await ended(2, ['plan', '--pr', String(number), '-n', what.namespace])).stderr;
    await edit(fixed, { repository: { ref: { branch: null, commit: fixed.repository.first } } });
    assert.match(await plan(fixed), /sync\/sync follows no branch, so no pull request changes what it applies/);
    await fixed.putSecret({ token: 'revoked' });
    assert.match(await plan(fixed), /does not accept the login .*\(401.*check `token` in the Secret of `spec\.forge`/);
    await edit(fixed, { forge: { secretRef: { name: 'nowhere' } } });
    assert.match(
      await plan(fixed),
      /there is no Secret nowhere in namespace test-\w+, which spec\.forge of the Sync needs/,
    );
    await edit(fixed, { forge: null });
    assert.match(await plan(fixed), /Sync test-\w+\/sync has no spec\.forge.*docs\/forges\.md/);
    await fixed.client.delete({ ...SYNC, namespace: fixed.namespace });
    assert.match(await plan(fixed), /there is no Sync in namespace test-\w+.*-n/);
  });

  test('a pull request of a fork is planned for who has read it, and gets no credentials', async (t) => {
    const { namespace, repository } = await startFollowed(t, { files: FILES });
    const outsider = await testPerson('outsider');
    await repository.addCollaborator(outsider.name, 'read');
    const fork = await repository.as(outsider).fork();
    await fork.push(
      {
        'plugins/a.yaml': pluginYaml('a', 'a', { valuesFrom: [{ kind: 'Secret', name: 'forge' }] }),
        'plugins/c.yaml': pluginYaml('c', 'c', {
          source: { git: { url: 'https://git.example.com/c.git', path: '.' } },
        }),
        'b/one.yaml': configMap('b', { a: 'fork' }),
      },
      { branch: 'theirs' },
    );
    const { number } = await repository.as(outsider).openPull({ branch: `${outsider.name}:theirs` });
    const pull = ['plan', '--pr', String(number), '-n', namespace];
    const refused = await ended(2, pull);
    assert.match(refused.stderr, /comes from another repository, of outsider-\w+: .* Read it, then add --fork/);
    assert.equal(refused.stdout, '');
    const planned = await ended(1, [...pull, '--fork']);
    assert.match(planned.stdout, /✗ .*\/a: .*values from Secret/);
    assert.match(planned.stdout, /✗ .*\/c: .*git\.example\.com\/c\.git, which a pull request from another repository/);
    assert.match(planned.stdout, /\+ ConfigMap test-\w+\/b\n/);
    assert.ok(!planned.stdout.includes(repository.agent.token));
  });
});

const SYNC = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Sync', name: 'sync' };

async function edit({ client, namespace }: Followed, spec: Parameters<Followed['client']['patch']>[1]): Promise<void> {
  await client.patch({ ...SYNC, namespace }, { spec }, { type: 'merge' });
}

async function ended(code: number, args: string[]): Promise<Ended> {
  const result = await espalier(args);
  assert.equal(result.code, code, `${args.join(' ')}\n${result.stdout}\n${result.stderr}`);
  return result;
}

/** Without what only the agent's comment has: its marker, and the time. */
function contentOf(markdown: string): string {
  return markdown
    .replace(/^\[\/\/\]: # .*$/m, '')
    .replace(/ at \d{4}-[^.]*Z/, '')
    .trim();
}
