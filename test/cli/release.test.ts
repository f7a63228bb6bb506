import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import { API_VERSION, type Plugin, type PluginStatus, readAs } from '../../src/api/index.ts';
import { readRecord, writeRecord } from '../../src/release/record.ts';
import { installKinds } from '../api/install.ts';
import { configMap } from '../helm/charts/fixture.ts';
import { testPod } from '../helm/charts/hooks.ts';
import { type PlainHelm, plainHelm } from '../helm/support/helm.ts';
import { dataOf } from '../helm/support/scene.ts';
import { type ChartFacts, chart, writeChart } from '../support/charts.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { espalier } from './support/espalier.ts';
import { COMMIT, createPlugin, ready, setStatus } from './support/objects.ts';

before(() => installKinds(testClient()));

const OLDER = '1111111111111111111111111111111111111111';

describe('espalier history', { concurrency: 3 }, () => {
  test('lists the revisions of a release as helm history does, each with its commit', async (t) => {
    const { namespace, helm } = await released(t, ['one', 'two']);
    const { code, stdout, stderr } = await espalier(['history', 'app', '-n', namespace]);
    assert.deepEqual([code, stderr], [0, '']);
    const [header = '', first = '', second = ''] = stdout.split('\n');
    assert.match(header, /^REVISION +UPDATED +STATUS +CHART +APP VERSION +COMMIT +DESCRIPTION$/);
    assert.match(
      first,
      /^1 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +superseded +app-1\.0\.0 +7\.1 +1111111111 +Install complete$/,
    );
    assert.match(second, /^2 .* deployed +app-1\.0\.1 +7\.1 +7a2ad27f44 +Upgrade complete$/);

    const data = JSON.parse((await espalier(['history', 'plugin/app', '-n', namespace, '-o', 'json'])).stdout);
    const theirs = await helm.json<Record<string, unknown>[]>('history', 'app');
    const ours = (data as Record<string, unknown>[]).map(({ commit, updated, ...row }) => row);
    assert.deepEqual(
      ours,
      theirs.map(({ updated, ...row }) => row),
    );
  });

  test('lists what the status remembers of a Plugin that is no release', async (t) => {
    const namespace = await testNamespace(t);
    const status = { ...ready('fine'), history: [entry(COMMIT, 'Ready'), entry(OLDER, 'Failed')] };
    await createPlugin({ namespace, name: 'plain', status });
    const { code, stdout } = await espalier(['history', 'plain', '-n', namespace]);
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[1] ?? '', /Failed +- +1111111111$/);
    assert.match(lines[2] ?? '', /Ready +- +7a2ad27f44$/);
  });

  test('says so where there is nothing yet, and what there is where the name is wrong', async (t) => {
    const namespace = await testNamespace(t);
    await declare(namespace);
    const empty = await espalier(['history', 'app', '-n', namespace]);
    assert.deepEqual([empty.code, empty.stdout], [0, '']);
    assert.match(empty.stderr, /plugin\/app has no revision yet/);
    const wrong = await espalier(['history', 'apps', '-n', namespace]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /no .*"apps".*there are: (plugin\/)?app/);
  });
});

describe('espalier rollback', { concurrency: 3 }, () => {
  test('suspends the Plugin, takes the release back by helm, and says how to go on', async (t) => {
    const { namespace, helm } = await released(t, ['one', 'two']);
    const agent = answersSuspend(namespace);
    const { code, stdout, stderr } = await espalier(['rollback', 'app', '1', '-n', namespace]);
    await agent;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^plugin\/app suspended\nRollback was a success/);
    assert.match(stderr, new RegExp(`Change its declaration in Git .*: espalier resume plugin/app -n ${namespace}`));
    assert.equal((await plugin(namespace)).spec.suspend, true);
    assert.equal(await textOf(namespace), 'one');
    const history = await helm.json<{ revision: number; description: string }[]>('history', 'app');
    assert.equal(history.at(-1)?.description, 'Rollback to 1');
  });

  test('refuses a revision that there is not, that is deployed, and a Plugin without a release, before anything is written', async (t) => {
    const { namespace, helm } = await released(t, ['one']);
    await createPlugin({ namespace, name: 'plain' });
    for (const [args, message] of [
      [['app', '7'], /release app has no revision 7; there are: 1 \(deployed\)/],
      [['app', '1'], /revision 1 of release app is what is deployed now/],
      [['app', 'latest'], /no revision latest/],
      [['plain', '1'], /plugin\/plain is of kind manifests: "espalier rollback" is for Helm releases/],
    ] satisfies [string[], RegExp][]) {
      const { code, stderr } = await espalier(['rollback', ...args, '-n', namespace]);
      assert.equal(code, 64, stderr);
      assert.match(stderr, message);
    }
    assert.equal((await plugin(namespace)).spec.suspend ?? false, false);
    assert.equal((await helm.json<unknown[]>('history', 'app')).length, 1);
  });

  test('says what helm says when that fails, and that the Plugin stays suspended', async (t) => {
    const { namespace } = await released(t, ['one', 'two']);
    // Its manifest has an object of a kind that is not there any more.
    await breakRevision(namespace);
    const agent = answersSuspend(namespace);
    const { code, stderr } = await espalier(['rollback', 'app', '1', '-n', namespace]);
    await agent;
    assert.equal(code, 2);
    assert.match(
      stderr,
      /helm rollback app 1 ended with 1: .*\nplugin\/app stays suspended; .*espalier resume plugin\/app/s,
    );
    assert.equal((await plugin(namespace)).spec.suspend, true);
  });
});

describe('espalier test', { concurrency: 3 }, () => {
  test("runs the chart's tests, and shows what came of each", async (t) => {
    const { namespace } = await released(t, ['one'], { 'templates/tests/works.yaml': testPod('works') });
    const { code, stdout, stderr } = await espalier(['test', 'app', '-n', namespace]);
    assert.deepEqual([code, stdout], [0, 'works: Succeeded\n'], stderr);
    assert.match(stderr, /the tests of plugin\/app passed/);
  });

  test('ends with 1 when one fails, and says so where there is none', async (t) => {
    const fails = testPod('fails').replace(
      '{playground.espalier.dev/completes: "true"}',
      '{pod-container-running-failed.stage.kwok.x-k8s.io: "true"}',
    );
    const { namespace } = await released(t, ['one'], { 'templates/tests/fails.yaml': fails });
    const { code, stdout, stderr } = await espalier(['test', 'app', '-n', namespace, '--timeout', '30s']);
    assert.deepEqual([code, stdout], [1, 'fails: Failed\n']);
    assert.match(stderr, /the tests of plugin\/app failed: .*fails/);
    const { namespace: other } = await released(t, ['one']);
    const none = await espalier(['test', 'app', '-n', other]);
    assert.deepEqual([none.code, none.stdout, none.stderr], [0, '', 'the chart of plugin/app has no tests\n']);
  });
});

/** A Plugin of kind helm, and its release as the agent would have left it: made by Helm here, one revision a text. */
async function released(
  t: TestContext,
  texts: readonly string[],
  files: Record<string, string> = {},
): Promise<{ namespace: string; helm: PlainHelm }> {
  const namespace = await testNamespace(t);
  const helm = await plainHelm(t, namespace);
  const made = await declare(namespace);
  for (const [index, text] of texts.entries()) {
    const facts: ChartFacts = { version: `1.0.${index}`, appVersion: '7.1' };
    const body = { 'templates/one.yaml': configMap('one', ['text: {{ .Values.text }}']), ...files };
    await helm('upgrade', '--install', 'app', await writeChart(t, chart('app', body, facts)), '--set', `text=${text}`);
  }
  const history = texts.map((_, index) => ({ ...entry(index === 0 ? OLDER : COMMIT, 'Ready'), revision: index + 1 }));
  await setStatus(made, { ...ready('fine'), history: history.toReversed() });
  return { namespace, helm };
}

function entry(commit: string, outcome: string): NonNullable<PluginStatus['history']>[number] {
  return { commit, outcome, at: '2026-11-18T09:00:00Z' };
}

function declare(namespace: string) {
  const source = { chart: { repository: 'https://charts.example.com', name: 'app' } };
  return createPlugin({ namespace, name: 'app', spec: { kind: 'helm', source } });
}

/** What the agent does when it sees that a Plugin is suspended. */
async function answersSuspend(namespace: string): Promise<void> {
  const suspended = await eventually(
    async () => {
      const live = await plugin(namespace);
      assert.equal(live.spec.suspend, true);
      return live;
    },
    { timeoutMs: 60_000 },
  );
  await setStatus(suspended, { phase: 'Suspended' });
}

async function plugin(namespace: string): Promise<Plugin> {
  const object = await testClient().get({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name: 'app' });
  assert.ok(object);
  return readAs(object, 'Plugin');
}

/** Makes the first revision one that can't be gone back to. */
async function breakRevision(namespace: string): Promise<void> {
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'sh.helm.release.v1.app.v1' };
  const secret = await testClient().get(ref);
  assert.ok(secret);
  const record = readRecord(secret);
  const manifest = 'apiVersion: gone.example.com/v1\nkind: Gone\nmetadata: {name: gone}\n';
  const { data } = writeRecord({ ...record, manifest }, {});
  await testClient().patch(ref, { data: data as { release: string } }, { type: 'merge' });
}

async function textOf(namespace: string): Promise<string | undefined> {
  return dataOf(await testClient().get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'one' })).text;
}
