import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ANNOTATION, API_VERSION, LABEL } from '../../src/api/index.ts';
import type { CheckDocument } from '../../src/cli/check-model.ts';
import { writeRecord } from '../../src/release/record.ts';
import { installKinds } from '../api/install.ts';
import { configMap, pluginYaml } from '../support/agent.ts';
import { chart, chartAt, packageChart, startChartServer } from '../support/charts.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { uniqueName } from '../support/names.ts';
import { writeFolder } from '../support/tempdir.ts';
import { espalier, espalierProcess } from './support/espalier.ts';

before(() => installKinds(testClient()));

const address = (apiVersion: string): string =>
  `apiVersion: ${apiVersion}\nkind: IPAddress\nmetadata: {name: 10.9.9.9}\nspec: {}\n`;
/** Renders what the Kubernetes at hand serves, as charts do. */
const BY_VERSION = `{{- if semverCompare ">=1.37-0" .Capabilities.KubeVersion.Version }}
${address('networking.k8s.io/v1')}{{- else }}
${address('networking.k8s.io/v1beta1')}{{- end }}`;
const HOOK = `${address('networking.k8s.io/v1beta1').replace('metadata: {', 'metadata: {annotations: {helm.sh/hook: pre-upgrade}, ')}`;

const FILES = {
  'plugins/plain.yaml': pluginYaml('plain', 'apps/plain', { dependsOn: [{ name: 'old' }] }),
  'plugins/old.yaml': pluginYaml('old', 'apps/old'),
  'plugins/gone.yaml': pluginYaml('gone', 'apps/plain', { when: { kubernetes: '<1.37' } }),
  'plugins/switching.yaml': pluginYaml('switching', 'charts/switching', { kind: 'helm' }),
  'plugins/hooked.yaml': pluginYaml('hooked', 'charts/hooked', { kind: 'helm' }),
  'plugins/narrow.yaml': pluginYaml('narrow', 'charts/narrow', { kind: 'helm' }),
  'apps/plain/cm.yaml': configMap('plain'),
  'apps/old/cron.yaml': 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: nightly}\nspec: {}\n',
  ...chartAt('charts/switching', chart('switching', { 'templates/ip.yaml': BY_VERSION })),
  ...chartAt('charts/hooked', chart('hooked', { 'templates/ip.yaml': HOOK, 'templates/cm.yaml': configMap('hooked') })),
  ...chartAt('charts/narrow', chart('narrow', { 'templates/cm.yaml': configMap('n') }, { kubeVersion: '<1.37-0' })),
};

describe('espalier check --kubernetes', { concurrency: 3 }, () => {
  for (const where of ['with a cluster', 'with none'] as const) {
    test(`tells of a repository what the release refuses, drops and no longer serves, ${where}`, async (t) => {
      const folder = await writeFolder(t, FILES);
      const args = ['check', '--kubernetes', '1.37', '--repository', folder, '-o', 'json'];
      const { code, stdout, stderr } =
        where === 'with none'
          ? await espalierProcess([...args, '--offline'], { env: { KUBECONFIG: '/nonexistent' } })
          : await espalier([...args, '-n', await testNamespace(t)]);
      assert.equal(code, 1, stderr);
      const document = JSON.parse(stdout) as CheckDocument;
      assert.equal(document.kubernetes.to, 'v1.37.0');
      const removed = where === 'with none' ? 'NotHere ok' : 'WouldBeRemoved blocks';
      assert.deepEqual(codesOf(document), {
        gone: [removed],
        hooked: ['ApiRemoved blocks'],
        narrow: ['KubeVersion blocks'],
        old: ['ApiRemoved blocks'],
        plain: [],
        switching: [],
      });
      const order = document.items.map(({ name }) => name);
      assert.ok(order.indexOf('old') < order.indexOf('plain'), 'what others need comes first');
      const finding = document.items.find(({ name }) => name === 'old')?.findings[0];
      assert.deepEqual(
        [finding?.object?.kind, finding?.removedIn, finding?.replacement],
        ['CronJob', '1.25', 'batch/v1'],
      );
      assert.match(document.notes[0] ?? '', /as it was decided when 1\.36 came out/);
    });
  }

  test('the same charts are fine for a release that serves what they use; the table says why a thing is not', async (t) => {
    const folder = await writeFolder(t, FILES);
    const { code, stdout, stderr } = await espalier([
      ...['check', '--kubernetes', '1.36', '--repository', folder, '-n', await testNamespace(t)],
    ]);
    assert.equal(code, 1);
    assert.match(stdout, /^NAME +NOW +WITH 1\.36 +RESULT +WHY$/m);
    assert.match(
      stdout,
      /^plugin\/old .* blocks +CronJob .*nightly is batch\/v1beta1, which Kubernetes no longer serves since 1\.25: use batch\/v1$/m,
    );
    assert.match(
      stdout,
      /^plugin\/switching +- +1\.0\.0 +warning +IPAddress 10\.9\.9\.9 is networking\.k8s\.io\/v1beta1, deprecated since 1\.34 and gone in 1\.37/m,
    );
    assert.match(stdout, /^plugin\/narrow +- +1\.0\.0 +ok +-$/m);
    assert.match(stderr, /^Kubernetes v1\.36\.\d+ → 1\.36: 3 ok, 2 warnings, 1 blocks$/m);
  });

  test('a version that is none, and options of a repository without one, are wrong usage', async () => {
    for (const args of [[], ['--kubernetes', 'soon'], ['--kubernetes', '1.37', '--offline']]) {
      assert.equal((await espalier(['check', ...args])).code, 64, args.join(' '));
    }
  });
});

describe('espalier check of a cluster', () => {
  test('tells which version instances move to, and which releases hold what is gone', async (t) => {
    const [client, namespace, name] = [testClient(), await testNamespace(t), uniqueName('demo')];
    const charts = ['1.0.0', '2.0.0'].map((version) =>
      packageChart(chart('demo', { 'templates/cm.yaml': configMap('demo') }, { version })),
    );
    const server = await startChartServer(t, { charts });
    const source = (version: string) => ({ chart: { repository: server.url, name: 'demo', version } });
    const versions = [
      { app: 'v1.0.0', kubernetes: '<1.37', source: source('1.0.0') },
      { app: 'v2.0.0', kubernetes: '>=1.37 <1.38', source: source('2.0.0') },
    ];
    const extension = { apiVersion: API_VERSION, kind: 'Extension', metadata: { name }, spec: { versions } };
    await client.create(extension);
    t.after(() => client.delete({ apiVersion: API_VERSION, kind: 'Extension', name }));
    const instances: Record<string, object> = {
      moves: {},
      waits: { upgrade: { approval: 'required' } },
      pinned: { version: 'v1.0.0' },
    };
    for (const [instance, spec] of Object.entries(instances)) {
      await client.create(ours('ExtensionInstance', instance, { extension: name, ...spec }));
      await client.create(
        ours(
          'Plugin',
          instance,
          { kind: 'helm', source: source('1.0.0') },
          {
            labels: { [LABEL.instance]: instance, [LABEL.extension]: name },
            annotations: { [ANNOTATION.extensionVersion]: 'v1.0.0' },
          },
        ),
      );
    }
    await client.create(record('moves', { [LABEL.owner]: 'moves', [LABEL.ownerNamespace]: namespace }));
    await client.create(record('somebodys', {}));

    const { code, stdout, stderr } = await espalier(['check', '--kubernetes', '1.37', '-n', namespace, '-o', 'json']);
    assert.equal(code, 1, stderr);
    const document = JSON.parse(stdout) as CheckDocument;
    assert.deepEqual(codesOf(document), {
      moves: ['Moves ok', 'RecordedApiRemoved warning'],
      pinned: ['NoVersionFits blocks'],
      somebodys: ['ReleaseApiRemoved blocks'],
      waits: ['Waits warning'],
    });
    const moving = document.items.find((item) => item.name === 'moves');
    assert.deepEqual([moving?.kind, moving?.before, moving?.after], ['ExtensionInstance', 'v1.0.0', 'v2.0.0']);
    const pinned = document.items.find((item) => item.name === 'pinned');
    assert.deepEqual([pinned?.before, pinned?.after], ['v1.0.0', null]);
    const downloads = server.requests.map(({ path }) => path).filter((path) => path.endsWith('.tgz'));
    assert.ok(
      downloads.some((path) => path.includes('2.0.0')),
      'what it moves to was rendered',
    );

    function ours(kind: string, called: string, spec: object, metadata: object = {}) {
      return { apiVersion: API_VERSION, kind, metadata: { name: called, namespace, ...metadata }, spec };
    }
    function record(release: string, labels: Record<string, string>) {
      const manifest = address('networking.k8s.io/v1beta1');
      const chartOf = { metadata: { name: 'x', version: '0.1.0' } };
      const info = { status: 'deployed' as const };
      return writeRecord({ name: release, namespace, version: 1, info, chart: chartOf, manifest }, labels);
    }
  });
});

function codesOf({ items }: CheckDocument): Record<string, string[]> {
  const told = items.map(
    ({ name, findings }) => [name, findings.map(({ code, result }) => `${code} ${result}`)] as const,
  );
  return Object.fromEntries(told.sort(([a], [b]) => (a < b ? -1 : 1)));
}
