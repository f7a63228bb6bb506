import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { KubeObject } from '../../src/api/index.ts';
import type { PlanDocument } from '../../src/plan/json-form.ts';
import { startPlatform } from '../cases/support/platform.ts';
import { espalier } from '../cli/support/espalier.ts';
import { configMap } from '../helm/charts/fixture.ts';
import { hookMap } from '../helm/charts/hooks.ts';
import { plainHelm } from '../helm/support/helm.ts';
import { deployment } from '../reconcile/scene.ts';
import { chart, chartAt, packageChart, startChartServer, subchart, writeChart } from '../support/charts.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { tempDir } from '../support/tempdir.ts';
import { serveForeignKinds } from './foreign-kinds.ts';

const RANDOM = `apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-random}
stringData: {password: {{ randAlphaNum 20 | quote }}}
`;
const APP = {
  'values.yaml': 'text: default\nreplicas: 1\n',
  'templates/text.yaml': configMap('{{ .Release.Name }}-text', ['text: {{ .Values.text }}']),
  'templates/hook.yaml': hookMap('{{ .Release.Name }}-hook', { on: 'pre-install,pre-upgrade' }),
  'templates/work.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec: {containers: [{name: app, image: "example.com/app:1"}]}
`,
};

/** Where charts are in a chart, what they rendered to must be the same: they are not on record. */
const WITH_PART = {
  ...APP,
  ...subchart('part', { 'templates/part.yaml': configMap('{{ .Release.Name }}-part', ['a: b']) }),
};
const WITH_RANDOM = { ...APP, 'templates/random.yaml': RANDOM };
const MAP = { 'templates/map.yaml': configMap('{{ .Release.Name }}-map', ['a: {{ .Values.a }}']) };

test('what Flux, Argo CD and Helm run is imported, plans to no change, is taken over without a restart, and follows Git from then on', async (t) => {
  const client = testClient();
  const missing = await espalier(['import', 'argocd', '-A', '--out', join(await tempDir(t), 'out')]);
  assert.deepEqual([missing.code, missing.stdout], [2, '']);
  assert.match(missing.stderr, /does not know the kind Application \(argoproj.io\).*Argo CD is not installed there/);
  await serveForeignKinds(t, client);

  const platform = await startPlatform(t, { prefix: 'import', files: { 'README.md': 'fleet' } });
  const { namespace, repository } = platform;
  const put = (object: unknown, fieldManager: string) => client.apply(object as KubeObject, { fieldManager });
  const fleet: Record<string, string> = {
    'apps/web/kustomization.yaml': 'resources: [web.yaml]\n',
    'apps/web/web.yaml': deployment('web', { image: 'example.com/web:1' }),
    'apps/shop/shop.yaml': deployment('shop', { image: 'example.com/shop:1' }),
    ...(chartAt('charts/app', chart('app', WITH_PART)) as Record<string, string>),
    ...(chartAt('charts/map', chart('map', MAP)) as Record<string, string>),
  };

  // As their controllers leave them: their own field managers, their own labels.
  const labels = { 'kustomize.toolkit.fluxcd.io/name': 'web', 'kustomize.toolkit.fluxcd.io/namespace': namespace };
  const live = (name: string, own: Record<string, string>): KubeObject => {
    const object = parse(deployment(name, { image: `example.com/${name}:1` })) as KubeObject;
    return { ...object, metadata: { ...object.metadata, namespace, labels: { ...object.metadata.labels, ...own } } };
  };
  await put(live('web', labels), 'kustomize-controller');
  await put(live('shop', { 'app.kubernetes.io/instance': 'shop' }), 'argocd-controller');
  // Argo CD without server-side apply: an update, and what it was made from in an annotation.
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  const rendered = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'site-map', namespace, annotations },
    data: { a: 'b' },
  };
  await client.create(rendered, { fieldManager: 'argocd-controller' });
  const helm = await plainHelm(t, namespace);
  const app = await writeChart(t, chart('app', WITH_PART));
  const hand = await writeChart(t, chart('hand', WITH_RANDOM));
  // helm-controller and Helm 3 write as an update, not by server-side apply.
  await helm('install', 'released', app, '--server-side=false', '--set', 'text=flux');
  await helm('install', 'byhand', hand, '--set', 'text=hand,auth.password=s3cret');
  for (const object of foreign(namespace, repository.url)) await put(object, 'somebody');
  const before = await stateOf(namespace);

  const out = await tempDir(t);
  await writeFiles(out, fleet);
  const same = ['-n', namespace, '--out', out, '--same-repository', repository.url];
  const flux = await espalier(['import', 'flux', ...same]);
  assert.equal(flux.code, 0, flux.stderr);
  assert.deepEqual(rowsOf(flux.stdout, namespace), [
    'NAMESPACE NAME KIND LEFT IT WAS',
    `NS released helm 0 HelmRelease NS/released`,
    `NS web kustomize 0 Kustomization NS/web`,
  ]);
  await planIsOnlyAdoption(out, namespace, ['Deployment released', 'Deployment web']);

  const shown = await espalier(['plan', out, '-n', namespace, '--plugin', 'web']);
  const [, told = ''] = /\n\n([\s\S]*)\n\n/.exec(shown.stdout) ?? [];
  const [, example = ''] =
    /espalier plan \. .*\n([\s\S]*?)\n```/.exec(
      await readFile(new URL('../../docs/import.md', import.meta.url), 'utf8'),
    ) ?? [];
  assert.equal(told.replaceAll(namespace, 'apps'), example, 'docs/import.md shows it');

  const argo = await espalier(['import', 'argocd', ...same, '--force', '-o', 'json']);
  assert.equal(argo.code, 0, argo.stderr);
  const { plugins, left } = JSON.parse(argo.stdout) as {
    plugins: unknown[];
    left: { object: string; field: string }[];
  };
  assert.deepEqual(plugins, [
    { namespace, name: 'shop', kind: 'manifests', from: `Application ${namespace}/shop` },
    { namespace, name: 'site', kind: 'template', from: `Application ${namespace}/web` },
  ]);
  assert.deepEqual(
    left.map(({ object, field }) => `${object} ${field}`.replace(namespace, 'NS')),
    ['Application NS/web spec.source', 'Application NS/web metadata.name', 'AppProject NS/team '],
  );

  const byHand = join(await tempDir(t), 'new');
  const imported = await espalier(['import', 'helm', '-n', namespace, '--out', byHand, '--values-to-secret']);
  assert.equal(imported.code, 0, imported.stderr);
  assert.equal(
    await readFile(join(byHand, `plugins/${namespace}/byhand.yaml`), 'utf8'),
    `# It was release ${namespace}/byhand.
apiVersion: espalier.dev/v1alpha1
kind: Plugin
metadata:
  name: byhand
  namespace: ${namespace}
spec:
  kind: helm
  source:
    git:
      path: charts/hand-1.0.0
  valuesFrom:
    - kind: Secret
      name: byhand-values
      key: values.yaml
  values:
    text: hand
  apply:
    adopt: true
`,
  );
  const page = await readFile(join(byHand, 'IMPORT.md'), 'utf8');
  assert.match(page, /auth\.password went into secrets\//);
  assert.doesNotMatch(page, /s3cret/);
  const again = await espalier(['import', 'helm', '-n', namespace, '--out', byHand]);
  assert.deepEqual([again.code, again.stdout], [64, '']);
  assert.match(again.stderr, /is not empty; name a new folder, or add --force/);
  assert.deepEqual(await stateOf(namespace), before, 'an import writes nothing to the cluster');

  // A person applies the Secret, and everything goes into one repository.
  const secret = await readFile(join(byHand, `secrets/${namespace}/byhand-values.yaml`), 'utf8');
  await put(parse(secret), 'person');
  const files = { ...(await readFiles(out)), ...(await readFiles(byHand)) };
  const whole = await tempDir(t);
  await writeFiles(whole, files);
  await planIsOnlyAdoption(whole, namespace, [
    ...['Deployment byhand', 'Deployment released', 'Deployment shop', 'Deployment web'],
  ]);
  await platform.push(files);
  await platform.settles();
  assert.deepEqual(await stateOf(namespace), before, 'nothing restarted, no hook ran, and there is no new revision');
  for (const name of ['web', 'shop', 'released', 'byhand']) {
    const { metadata } = (await platform.get('Deployment', name, 'apps/v1')) as KubeObject;
    const appliers = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined);
    const known = ['kube-controller-manager', 'espalier', 'helm'];
    const others = appliers.filter(
      ({ manager = '', operation }) => !known.includes(manager) || (manager === 'helm' && operation !== 'Apply'),
    );
    assert.deepEqual(others, [], `${name} is held by nobody but us`);
  }

  // From now on Git decides, also about what only others had set before.
  await platform.push({
    'apps/web/web.yaml': deployment('web', { image: 'example.com/web:2' }),
    'apps/shop/shop.yaml': deployment('shop', { image: 'example.com/shop:2' }),
    [`plugins/${namespace}/released.yaml`]:
      files[`plugins/${namespace}/released.yaml`]?.replace('text: flux', 'text: git\n    replicas: 2') ?? '',
  });
  await platform.settles();
  await eventually(async () => {
    const images = await Promise.all(
      ['web', 'shop'].map(async (name) => imageOf(await platform.get('Deployment', name, 'apps/v1'))),
    );
    assert.deepEqual(images, ['example.com/web:2', 'example.com/shop:2']);
  });
  const revisions = await helm.json<{ revision: number; status: string }[]>('history', 'released');
  assert.deepEqual(
    revisions.map(({ revision, status }) => `${revision} ${status}`),
    ['1 superseded', '2 deployed'],
  );
  assert.deepEqual((await platform.get('ConfigMap', 'released-text'))?.data, { text: 'git' });
});

test('a chart is declared from where it is published, or written out of the record with a lock for the charts in it', async (t) => {
  const namespace = await testNamespace(t, { prefix: 'import' });
  const charts = await startChartServer(t);
  const part = packageChart(chart('part', { 'templates/a.yaml': configMap('{{ .Release.Name }}-part', ['a: b']) }));
  charts.add(part);
  const dependencies = [{ name: 'part', version: '^1', repository: charts.url }];
  const helm = await plainHelm(t, namespace);
  const whole = await writeChart(
    t,
    chart('whole', { 'templates/a.yaml': configMap('whole', ['a: b']) }, { dependencies }),
  );
  await helm('dependency', 'update', whole);
  await helm('install', 'whole', whole);
  const inside = {
    ...chart('inside', {}, { dependencies: [{ name: 'own', version: '1.0.0' }] }),
    ...subchart('own', { 'templates/a.yaml': configMap('own', ['a: b']) }),
  };
  await helm('install', 'inside', await writeChart(t, inside));
  await helm('install', 'part-alone', 'part', '--repo', charts.url);

  const labels = { owner: 'helm', name: 'broken', version: '1', status: 'deployed' };
  const broken = { name: 'sh.helm.release.v1.broken.v1', namespace, labels };
  const data = { release: 'bm9uZQ==' };
  await testClient().create({ apiVersion: 'v1', kind: 'Secret', metadata: broken, type: 'helm.sh/release.v1', data });

  const out = join(await tempDir(t), 'out');
  const { code, stderr } = await espalier([
    'import',
    'helm',
    '-n',
    namespace,
    '--out',
    out,
    '--repository',
    charts.url,
  ]);
  assert.equal(code, 0, stderr);
  const sourceOf = async (name: string) =>
    (parse(await readFile(join(out, `plugins/${namespace}/${name}.yaml`), 'utf8')) as { spec: { source: unknown } })
      .spec.source;
  assert.deepEqual(await sourceOf('part-alone'), { chart: { repository: charts.url, name: 'part', version: '1.0.0' } });
  assert.deepEqual(await sourceOf('whole'), { git: { path: 'charts/whole-1.0.0' } });
  const original = parse(await readFile(join(whole, 'Chart.lock'), 'utf8')) as { digest: string };
  const lock = parse(await readFile(join(out, 'charts/whole-1.0.0/Chart.lock'), 'utf8')) as { digest: string };
  assert.equal(lock.digest, original.digest, 'Helm itself would have written this lock');
  assert.deepEqual((await readdir(join(out, `plugins/${namespace}`))).sort(), ['part-alone.yaml', 'whole.yaml']);
  const page = await readFile(join(out, 'IMPORT.md'), 'utf8');
  assert.match(page, /sh\.helm\.release\.v1\.broken\.v1 is no record that Helm wrote/);
  assert.match(page, /inside-1\.0\.0 is made of other charts, which a record does not hold/);
});

/** Everything that must not change: generations, revisions, what hooks left, random values. */
async function stateOf(namespace: string): Promise<Record<string, unknown>> {
  const client = testClient();
  const list = async (apiVersion: string, kind: string) =>
    (await client.list({ apiVersion, kind, namespace })).items.filter(
      ({ metadata }) => !/^(kube-root|forge|byhand-values)/.test(metadata.name),
    );
  const deployments = await list('apps/v1', 'Deployment');
  const maps = await list('v1', 'ConfigMap');
  const secrets = await list('v1', 'Secret');
  return {
    generations: deployments.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.generation}`),
    maps: maps.map(({ metadata, data }) => [metadata.name, metadata.uid, data]),
    secrets: secrets.map(({ metadata, data }) => [metadata.name, metadata.uid, data]),
  };
}

/** `espalier plan`: everything is taken over, and nothing of it changes but our labels. */
async function planIsOnlyAdoption(folder: string, namespace: string, some: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await espalier(['plan', folder, '-n', namespace, '-o', 'json']);
  assert.equal(code, 0, stderr + stdout);
  const plan = JSON.parse(stdout) as PlanDocument;
  assert.deepEqual([plan.faults, plan.held], [[], []]);
  const objects = plan.plugins.flatMap((plugin) => plugin.objects);
  assert.deepEqual([...new Set(objects.map(({ action }) => action))], ['adopt'], stdout);
  const fields = objects.flatMap((object) => (Array.isArray(object.fields) ? object.fields : []));
  const paths = fields.map((field) => String((field as { path: unknown }).path));
  assert.deepEqual(
    paths.filter((path) => !/^metadata\.(labels|annotations)\b/.test(path)),
    [],
  );
  const names = objects.map(({ kind, name }) => `${kind} ${name}`);
  assert.deepEqual(names.filter((name) => name.startsWith('Deployment ')).sort(), [...some]);
}

function foreign(namespace: string, url: string): unknown[] {
  const meta = (name: string) => ({ name, namespace });
  const sourceRef = { kind: 'GitRepository', name: 'fleet' };
  return [
    {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: meta('fleet'),
      spec: { interval: '1m', url, ref: { branch: 'main' } },
    },
    {
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata: meta('released'),
      spec: {
        interval: '10m',
        chart: { spec: { chart: './charts/app', sourceRef } },
        values: { text: 'flux' },
        dependsOn: [],
      },
    },
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: meta('web'),
      spec: { interval: '10m', prune: true, path: './apps/web', sourceRef },
    },
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: meta('shop'),
      spec: {
        destination: { server: 'https://kubernetes.default.svc', namespace },
        source: { repoURL: url, path: 'apps/shop', targetRevision: 'main' },
        syncPolicy: { automated: { prune: true, selfHeal: true } },
      },
      status: { sourceType: 'Directory' },
    },
    {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: meta('web'),
      spec: {
        destination: { name: 'in-cluster', namespace },
        source: {
          repoURL: url,
          path: 'charts/map',
          targetRevision: 'main',
          helm: { releaseName: 'site', values: 'a: b' },
        },
        syncPolicy: { automated: { prune: true, selfHeal: true } },
      },
    },
    { apiVersion: 'argoproj.io/v1alpha1', kind: 'AppProject', metadata: meta('team'), spec: {} },
  ];
}

function rowsOf(table: string, namespace: string): string[] {
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(namespace, 'NS').replace(/ +/g, ' '));
}

function imageOf(object: KubeObject | undefined): string | undefined {
  const spec = object?.spec as { template: { spec: { containers: { image: string }[] } } } | undefined;
  return spec?.template.spec.containers[0]?.image;
}

async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

async function readFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [relative(folder, file), await readFile(file, 'utf8')])),
  );
}
