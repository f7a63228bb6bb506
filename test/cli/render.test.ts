import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../src/api/index.ts';
import { installKinds } from '../api/install.ts';
import { deployment } from '../reconcile/scene.ts';
import { configMap, declareTestSync, pluginYaml } from '../support/agent.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { commitFiles, testGitServer } from '../support/gitserver.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir, writeFolder } from '../support/tempdir.ts';
import { espalier, espalierProcess, startEspalier } from './support/espalier.ts';

/** No cluster is there. */
const OFFLINE = { env: { KUBECONFIG: '/nonexistent' } };

before(() => installKinds(testClient()));

describe('espalier render', { concurrency: 3 }, () => {
  test('prints what the agent would apply: patched, with images, namespaces and labels, with the settings of the Sync', async (t) => {
    const namespace = await testNamespace(t);
    const folder = await writeFolder(t, {
      'plugins/web.yaml': pluginYaml('web', 'apps/web', {
        namespace: { name: 'web', create: true },
        patches: [{ target: { kind: 'Deployment' }, merge: { spec: { replicas: 7 } } }],
      }),
      'apps/web/web.yaml': deployment('web'),
      'manifests/greeter/cm.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting}\ndata: {text: "hello {{ .who }}"}\n',
    });
    await declareTestSync(testClient(), {
      namespace,
      url: 'https://git.example.com/platform.git',
      spec: { values: { who: 'all' }, images: { rewrite: [{ from: 'registry.example.com', to: 'harbor.local/x' }] } },
    });
    const { code, stdout, stderr } = await espalier(['render', folder, '-n', namespace]);
    assert.deepEqual([code, stderr], [0, '2 plugins, 3 objects\n']);
    const objects = documents(stdout);
    assert.deepEqual(
      objects.map(nameOf),
      ['ConfigMap greeting', 'Namespace web', 'Deployment web/web'].map((name) =>
        name.replace('greeting', `${namespace}/greeting`),
      ),
    );
    const [greeting, , web] = objects;
    assert.deepEqual(greeting?.data, { text: 'hello all' });
    assert.deepEqual(web?.metadata.labels, {
      tier: 'front',
      'espalier.dev/plugin': 'web',
      'espalier.dev/plugin-namespace': namespace,
    });
    assert.match(stdout, /image: harbor\.local\/x\/app:1/);
    assert.match(stdout, /replicas: 7/);
    assert.match(stdout, new RegExp(`^---\n# ${namespace}/greeter\n`));
  });

  test('-o name and -o json are for programs; --plugin picks', async (t) => {
    const namespace = await testNamespace(t);
    const folder = await writeFolder(t, two());
    const named = await espalier(['render', '--plugin', 'a', folder, '-o', 'name', '-n', namespace]);
    assert.deepEqual([named.code, named.stdout], [0, 'configmap/a\n']);
    const { stdout } = await espalier(['render', folder, '-o', 'json', '-n', namespace]);
    const list = JSON.parse(stdout) as { kind: string; items: KubeObject[] };
    assert.deepEqual(
      [list.kind, list.items.map(nameOf)],
      ['List', [`ConfigMap ${namespace}/a`, `ConfigMap ${namespace}/b`]],
    );
    const wrong = await espalier(['render', folder, '--plugin', 'c', '-n', namespace]);
    assert.deepEqual(
      [wrong.code, wrong.stdout, /no Plugin "c" here; there are: a, b/.test(wrong.stderr)],
      [64, '', true],
    );
  });

  test('takes a Git URL and a ref, with the settings of the Sync that follows it', async (t) => {
    const namespace = await testNamespace(t);
    const repository = await (await testGitServer(t)).createRepository('platform');
    const parent = await commitFiles(repository, two());
    await commitFiles(repository, { 'apps/a/a.yaml': configMap('a', { a: 'topic' }) }, { branch: 'topic', parent });
    await declareTestSync(testClient(), { namespace, name: 'other', url: 'https://git.example.com/other.git' });
    await declareTestSync(testClient(), { namespace, url: repository.url, spec: { cluster: { name: 'eu' } } });
    const { code, stdout } = await espalier([
      'render',
      repository.url,
      '--ref',
      'topic',
      '--plugin',
      'a',
      '-n',
      namespace,
    ]);
    assert.equal(code, 0);
    assert.deepEqual(documents(stdout)[0]?.data, { a: 'topic' });
  });

  test('--offline needs no cluster: versions, names and labels are given, scopes come from Kubernetes and from the repository', async (t) => {
    const folder = await writeFolder(t, {
      'plugins/crds.yaml': pluginYaml('crds', 'apps/crds', { when: { kubernetes: '>=1.36' } }),
      'plugins/things.yaml': pluginYaml('things', 'apps/things', { namespace: { name: 'things' } }),
      'plugins/old.yaml': pluginYaml('old', 'apps/things', { when: { kubernetes: '<1.30' } }),
      'clusters/eu/things.yaml': overlay('things', {
        patches: [{ target: { kind: 'ClusterRole' }, merge: { metadata: { labels: { by: 'name' } } } }],
      }),
      'clusters/_tier=prod/crds.yaml': overlay('crds', {
        patches: [{ target: {}, merge: { metadata: { labels: { by: 'label' } } } }],
      }),
      'apps/crds/crd.yaml': definition('things.example.com', 'Namespaced'),
      'apps/crds/wide.yaml': definition('wide.example.com', 'Cluster'),
      'apps/things/thing.yaml': JSON.stringify({
        apiVersion: 'things.example.com/v1',
        kind: 'Thing',
        metadata: { name: 'one' },
      }),
      'apps/things/wide.yaml': JSON.stringify({
        apiVersion: 'wide.example.com/v1',
        kind: 'Thing',
        metadata: { name: 'two' },
      }),
      'apps/things/role.yaml': JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'role' },
        rules: [],
      }),
      'apps/things/cm.yaml': configMap('cm'),
    });
    const args = ['render', folder, '--offline', '--kubernetes', '1.36', '--cluster', 'eu', '--label', 'tier=prod'];
    const { code, stdout, stderr } = await espalierProcess(args, OFFLINE);
    assert.equal(code, 0, stderr);
    assert.deepEqual(documents(stdout).map(nameOf).sort(), [
      'ClusterRole role',
      'ConfigMap things/cm',
      'CustomResourceDefinition things.things.example.com',
      'CustomResourceDefinition things.wide.example.com',
      'Thing things/one',
      'Thing two',
    ]);
    assert.deepEqual(
      documents(stdout)
        .filter(({ metadata }) => metadata.labels?.by !== undefined)
        .map(({ kind, metadata }) => [kind, metadata.labels?.by])
        .sort(),
      [
        ['ClusterRole', 'name'],
        ['CustomResourceDefinition', 'label'],
        ['CustomResourceDefinition', 'label'],
      ],
    );
    assert.match(stderr, /^note: espalier-system\/old: it is for Kubernetes <1\.30; this cluster runs 1\.36$/m);
    assert.match(stderr, /^2 plugins, 6 objects$/m);
    const unsaid = await espalierProcess(['render', folder, '--offline'], OFFLINE);
    assert.equal(unsaid.code, 1);
    assert.match(unsaid.stderr, /crds: waits for the cluster's Kubernetes version is not known/);
  });

  test('without a cluster it says so, and how to do without', async (t) => {
    const folder = await writeFolder(t, two());
    const { code, stderr } = await espalierProcess(['render', folder], OFFLINE);
    assert.equal(code, 2);
    assert.match(stderr, /--offline/);
  });

  test('secret values are hidden unless asked for, those of Secrets in the cluster too', async (t) => {
    const [namespace, canary] = [await testNamespace(t), uniqueName('canary')];
    await testClient().create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'values', namespace },
      stringData: { 'values.yaml': JSON.stringify({ password: canary }) },
    });
    const source = { git: { path: 'apps/a', template: true } };
    const folder = await writeFolder(t, {
      'plugins/a.yaml': pluginYaml('a', 'apps/a', {
        source,
        valuesFrom: [{ kind: 'Secret', name: 'values', key: 'values.yaml' }],
      }),
      'apps/a/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {url: "u:{{ .password }}@db"}\n',
      'apps/a/secret.yaml':
        'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: "{{ .password }}"}\n',
    });
    for (const format of ['yaml', 'json']) {
      const { stdout, stderr } = await espalier(['render', folder, '-n', namespace, '-o', format]);
      for (const form of [canary, Buffer.from(canary).toString('base64').slice(0, 16)])
        assert.ok(!stdout.includes(form), stdout);
      assert.match(stderr, /--show-secrets prints it/);
    }
    const { stdout, stderr } = await espalier(['render', folder, '-n', namespace, '--show-secrets']);
    const [config, secret] = documents(stdout).sort((a, b) => (a.kind < b.kind ? -1 : 1));
    assert.deepEqual(config?.data, { url: `u:${canary}@db` });
    assert.deepEqual(secret?.data, { password: Buffer.from(canary).toString('base64') });
    assert.equal(stderr, '1 plugin, 2 objects\n');
  });

  test('Ctrl-C in the middle leaves nothing in the temporary folder', async (t) => {
    const folder = await writeFolder(t, {
      'plugins/endless.yaml': pluginYaml('endless', 'app', { source: { git: { path: 'app', template: true } } }),
      'app/a.yaml': 'a: {{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}\n',
    });
    const TMPDIR = await tempDir(t);
    const running = startEspalier(t, ['render', folder, '--offline'], { env: { ...OFFLINE.env, TMPDIR } });
    await eventually(async () => assert.match((await readdir(TMPDIR)).join(), /espalier-render-/));
    running.kill('SIGINT');
    await running.ended;
    await eventually(async () => assert.deepEqual(await readdir(TMPDIR), []));
  });

  test('what does not render is told with its place, the rest is printed all the same', async (t) => {
    const folder = await writeFolder(t, {
      ...two(),
      'plugins/c.yaml': pluginYaml('c', 'apps/c', { timeout: 'soon' }),
      'plugins/d.yaml': pluginYaml('d', 'apps/d'),
      'apps/d/broken.yaml': 'a: [',
      'plugins/e.yaml': pluginYaml('e', 'x', { source: { git: { url: 'https://git.example.com/e.git', path: '.' } } }),
    });
    const { code, stdout, stderr } = await espalierProcess(['render', folder, '--offline'], OFFLINE);
    assert.equal(code, 1);
    assert.deepEqual(
      documents(stdout).map(({ metadata }) => metadata.name),
      ['a', 'b'],
    );
    assert.match(stderr, /✗ plugins\/c\.yaml:\d+:\d+: Plugin .*c: .*timeout/);
    assert.match(stderr, /✗ espalier-system\/d: .*apps\/d\/broken\.yaml/);
    assert.match(
      stderr,
      /✗ espalier-system\/e: its files are in https:\/\/git\.example\.com\/e\.git, which is not looked at with --offline/,
    );
    assert.match(stderr, /^2 plugins, 2 objects, 3 faults$/m);
  });
});

function two(): Record<string, string> {
  return {
    'plugins/a.yaml': pluginYaml('a', 'apps/a'),
    'plugins/b.yaml': pluginYaml('b', 'apps/b'),
    'apps/a/a.yaml': configMap('a'),
    'apps/b/b.yaml': configMap('b'),
  };
}

function overlay(name: string, spec: object): string {
  return JSON.stringify({ apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', metadata: { name }, spec });
}

function definition(group: string, scope: string): string {
  const schema = { openAPIV3Schema: { type: 'object' } };
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope,
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
}

function documents(text: string): KubeObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

function nameOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
