import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ANNOTATION, type KubeObject, type ObjectRef, refKey, refOf } from '../../src/api/index.ts';
import type { PlanDocument } from '../../src/plan/json-form.ts';
import { gadgetDefinition } from '../helm/charts/crds.ts';
import { deployment, type Scene, startScene } from '../reconcile/scene.ts';
import { configMap, declareTestSync, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { commitFiles } from '../support/gitserver.ts';
import { startHttpProxy } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { type Ended, espalier, espalierProcess } from './support/espalier.ts';

describe('espalier plan', { concurrency: 3 }, () => {
  test('says what a push would create, change field by field, delete, keep and take over; then the agent does just that', async (t) => {
    const scene = await startScene(t, { files: before() });
    await scene.client.apply(map(scene, 'held', { extra: 'theirs' }), { fieldManager: 'rival' });
    await scene.client.create(map(scene, 'found', { theirs: '1' }), { fieldManager: 'somebody' });
    await scene.client.create(map(scene, 'foreign', { theirs: '1' }), { fieldManager: 'somebody' });
    const snapshot = await objectsIn(scene);
    const folder = await writeFolder(t, after());

    const document = await planOf(scene, [folder]);
    const moved = objectsOf(document).filter(({ action }) => action === 'moved');
    assert.deepEqual(
      moved.map(({ name, to }) => [name, to]),
      [['moves', `${scene.namespace}/c`]],
    );
    const planned = objectsOf(document).filter((object) => !moved.includes(object));
    const actions = new Map(planned.map((object) => [`${object.kind} ${object.name}`, object]));
    assert.deepEqual(Object.fromEntries([...actions].map(([name, { action }]) => [name, action])), {
      'ConfigMap changed': 'change',
      'ConfigMap found': 'adopt',
      'ConfigMap foreign': 'conflict',
      'ConfigMap held': 'conflict',
      'ConfigMap leaves': 'delete',
      'ConfigMap moves': 'adopt',
      'ConfigMap new': 'create',
      'ConfigMap same': 'unchanged',
      'Deployment web': 'change',
      'PersistentVolumeClaim cache': 'keep',
      'ConfigMap stays': 'keep',
      'Secret vault': 'change',
    });
    assert.deepEqual(fieldsOf(actions.get('ConfigMap changed')), [['data.a', 'replace', '1', '2']]);
    assert.deepEqual(fieldsOf(actions.get('Deployment web')), [
      [
        'spec.template.spec.containers[name=app].image',
        'replace',
        'registry.example.com/app:1',
        'registry.example.com/app:2',
      ],
    ]);
    assert.deepEqual(fieldsOf(actions.get('Secret vault')), [['data.password', 'replace', '••• (1)', '••• (2)']]);
    assert.equal(actions.get('PersistentVolumeClaim cache')?.why, 'deletion.volumes is keep');
    assert.equal(
      actions.get('ConfigMap stays')?.why,
      'it goes once everything that the plugin declares could be applied',
    );
    assert.equal(actions.get('ConfigMap held')?.with, 'rival');
    assert.deepEqual(actions.get('ConfigMap held')?.fields, [{ field: '.data.extra', manager: 'rival' }]);
    assert.equal(actions.get('ConfigMap foreign')?.with, 'somebody');
    assert.equal(actions.get('ConfigMap moves')?.from, `${scene.namespace}/b`);
    assert.deepEqual(await objectsIn(scene), snapshot, 'nothing was written');

    await scene.push(after());
    await pluginReaches(scene.client, scene.namespace, 'd', 'Failed');
    await eventually(async () => assert.equal(await scene.client.get(scene.ref('ConfigMap', 'leaves')), undefined));
    await pluginReaches(scene.client, scene.namespace, 'c', 'Ready');
    const now = await objectsIn(scene);
    for (const [name, object] of actions) {
      const key = refKey(object as unknown as ObjectRef);
      const [was, is] = [snapshot.get(key), now.get(key)];
      switch (object.action) {
        case 'create':
          assert.ok(was === undefined && is !== undefined, name);
          break;
        case 'change':
        case 'adopt':
          assert.ok(was !== undefined && is !== undefined && is !== was, name);
          break;
        case 'delete':
          assert.equal(is, undefined, name);
          break;
        default:
          assert.equal(is, was, `${name}: ${object.action}`);
      }
    }
    for (const key of now.keys())
      assert.ok(
        snapshot.has(key) || [...actions.values()].some((one) => refKey(one as unknown as ObjectRef) === key),
        `${key} was not in the plan`,
      );
    assert.deepEqual((await scene.get('ConfigMap', 'moves')).metadata.labels?.['espalier.dev/plugin'], 'c');
    // Who had the object that moved lets go of it once the other one has it.
    await eventually(async () => {
      const again = objectsOf(await planOf(scene, [folder])).filter(
        ({ action }) => !['unchanged', 'conflict', 'keep'].includes(action),
      );
      assert.deepEqual(again, [], 'there is nothing left to do');
    });
  });

  test('sends nothing but reads and dry runs', async (t) => {
    const scene = await startScene(t, { files: before() });
    const proxy = await startHttpProxy({ kubeconfig: testKubeconfig() });
    t.after(() => proxy.close());
    const kubeconfig = join(await tempDir(t), 'kubeconfig');
    await writeFile(kubeconfig, proxy.kubeconfig);
    const folder = await writeFolder(t, after());
    const ended = await espalier(['plan', folder, '-n', scene.namespace, '--kubeconfig', kubeconfig]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal(proxy.mutations, 0);
    assert.ok(proxy.requests.some(({ method, path }) => method === 'PATCH' && path.includes('dryRun=All')));
  });

  test('takes the URL of a repository and a branch, a tag or a commit of it, and what the Sync follows without', async (t) => {
    const scene = await startScene(t, {
      files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
    });
    const commit = await commitFiles(
      scene.repository,
      { 'apps/a/cm.yaml': configMap('a', { a: 'branch' }) },
      { branch: 'topic', parent: await head(scene) },
    );
    for (const ref of ['topic', 'refs/heads/topic', commit]) {
      const document = await planOf(scene, [scene.repository.url, '--ref', ref]);
      assert.equal(document.commit.head, commit);
      assert.deepEqual(
        objectsOf(document).map((object) => [object.name, fieldsOf(object)]),
        [['a', [['data.a', 'replace', '1', 'branch']]]],
      );
    }
    const followed = await planOf(scene, [scene.repository.url]);
    assert.equal(followed.commit.head, await head(scene));
    assert.deepEqual(
      objectsOf(followed).map(({ action }) => action),
      ['unchanged'],
    );
    const wrong = await run(scene, [scene.repository.url, '--ref', 'nowhere']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /nowhere/);
  });

  test('text, Markdown and JSON say the same; colour is for terminals alone', async (t) => {
    const scene = await startScene(t, {
      files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
    });
    const folder = await writeFolder(t, {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/cm.yaml': configMap('a', { a: '2' }),
      'apps/a/new.yaml': configMap('new'),
    });
    const text = await run(scene, [folder]);
    assert.deepEqual([text.code, text.stderr], [0, '']);
    const { namespace } = scene;
    assert.deepEqual(text.stdout.trimEnd().split('\n').slice(1), [
      '',
      `${namespace}/a: 1 to create, 1 to change`,
      `  + ConfigMap ${namespace}/new`,
      `  ~ ConfigMap ${namespace}/a`,
      '      ~ data.a: "1" → "2"',
      '',
      '1 plugin: 1 to create, 1 to change',
    ]);
    assert.match(text.stdout, /^Plan, commit [0-9a-f]{40} → local\n/);
    const markdown = await run(scene, [folder, '-o', 'markdown']);
    assert.match(markdown.stdout, /\*\*1 plugin: 1 to create, 1 to change\*\*/);
    assert.match(markdown.stdout, /```diff\n[\s\S]*data\.a: "1" → "2"/);
    const { summary } = await planOf(scene, [folder]);
    assert.deepEqual([summary.plugins, summary.create, summary.change], [1, 1, 1]);
  });

  test('what admission refuses, and what it warns of, is in the plan', async (t) => {
    const restricted = await testNamespace(t, {
      labels: { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' },
    });
    const scene = await startScene(t, {
      files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') },
    });
    const broken = JSON.parse(deployment('broken')) as { spec: { selector: unknown } };
    broken.spec.selector = { matchLabels: { app: 'other' } };
    const folder = await writeFolder(t, {
      'plugins/a.yaml': [
        pluginYaml('a', 'apps/a'),
        pluginYaml('b', 'apps/b', { namespace: { name: restricted } }),
      ].join('\n---\n'),
      'apps/a/broken.yaml': JSON.stringify(broken),
      'apps/a/kind.yaml': JSON.stringify({
        apiVersion: 'nobody.example.com/v1',
        kind: 'Thing',
        metadata: { name: 'x' },
      }),
      'apps/a/guarded.yaml': JSON.stringify(await guardedByNobody(t)),
      'apps/a/number.yaml': JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'number' },
        data: { port: 80 },
      }),
      'apps/b/web.yaml': deployment('web'),
    });
    const document = await planOf(scene, [folder, '--plugin', 'a', '--plugin', 'b']);
    const refused = objectsOf(document).filter(({ action }) => action === 'refused');
    assert.deepEqual(refused.map(({ kind }) => kind).sort(), ['ConfigMap', 'Deployment', 'Secret', 'Thing']);
    assert.match(
      String(refused.find(({ kind }) => kind === 'Secret')?.message),
      /failed calling webhook "guard\.example\.com"/,
    );
    assert.match(
      String(refused.find(({ kind }) => kind === 'ConfigMap')?.message),
      /does not fit the schema of its kind: \.data\.port: expected string, got 80\. .*write them in quotes/,
    );
    assert.match(
      String(refused.find(({ kind }) => kind === 'Deployment')?.message),
      /`selector` does not match template `labels`/,
    );
    assert.match(
      String(refused.find(({ kind }) => kind === 'Thing')?.message),
      /does not serve Thing of nobody\.example\.com\/v1/,
    );
    assert.match(
      document.plugins.find(({ name }) => name === 'b')?.warnings.join('\n') ?? '',
      /Deployment .*\/web: would violate PodSecurity "restricted/,
    );
    assert.equal((await run(scene, [folder, '--detailed-exitcode'])).code, 2);
  });

  test('objects of definitions and namespaces that the same revision brings are created, not refused', async (t) => {
    const scene = await startScene(t, { files: {}, until: 'Ready' });
    const [group, made] = [`${uniqueName('plan')}.example.com`, uniqueName('made')];
    const folder = await writeFolder(t, {
      'plugins/crds.yaml': pluginYaml('crds', 'apps/crds'),
      'plugins/things.yaml': pluginYaml('things', 'apps/things', {
        namespace: { name: made, create: true },
        dependsOn: [{ name: 'crds' }],
      }),
      'apps/crds/crd.yaml': definition(group),
      'apps/things/thing.yaml': JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } }),
      'apps/things/cm.yaml': configMap('a'),
    });
    const document = await planOf(scene, [folder]);
    assert.deepEqual(
      objectsOf(document)
        .map(({ action, kind, namespace, name }) => [action, kind, namespace, name])
        .sort(),
      [
        ['create', 'ConfigMap', made, 'a'],
        ['create', 'CustomResourceDefinition', null, `things.${group}`],
        ['create', 'Namespace', null, made],
        ['create', 'Thing', made, 'one'],
      ],
    );
    assert.deepEqual(document.waits, [], 'what it waits for is part of the plan');
  });

  test('an object that only the definition of the same revision allows is not refused, and the plan says that it was not tried', async (t) => {
    const group = `${uniqueName('plan')}.example.com`;
    const name = `gadgets.${group}`;
    t.after(() =>
      testClient().delete({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }),
    );
    const before = {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/kind.yaml': gadgetDefinition(group),
      'apps/a/one.yaml': gadget(group, { size: 'small' }),
    };
    const scene = await startScene(t, { files: before });
    const one = async (files: Record<string, string>) => {
      const document = await planOf(scene, [await writeFolder(t, { ...before, ...files })]);
      const found = objectsOf(document).find(({ kind }) => kind === 'Gadget');
      return { ...found, warnings: document.plugins.flatMap(({ warnings }) => warnings).join('\n') };
    };
    const coloured = { 'apps/a/one.yaml': gadget(group, { size: 'small', colour: 'red' }) };
    const alone = await one(coloured);
    assert.equal(alone.action, 'refused', 'the definition stays as it is');
    const both = await one({ ...coloured, 'apps/a/kind.yaml': gadgetDefinition(group, ['size', 'colour']) });
    assert.equal(both.action, 'change');
    assert.deepEqual(fieldsOf(both), [['spec.colour', 'add', undefined, 'red']]);
    assert.match(
      both.warnings,
      /Gadget \S+\/one could not be tried, for the definition of its kind changes too: .*\.spec\.colour: field not declared/,
    );
  });

  test('secret values are in no form of the plan, wherever they come from', async (t) => {
    const canary = uniqueName('canary');
    const scene = await startScene(t, { files: {}, until: 'Ready' });
    await scene.client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'values', namespace: scene.namespace },
      stringData: { 'values.yaml': JSON.stringify({ db: { password: canary } }) },
    });
    const folder = await writeFolder(t, {
      'plugins/a.yaml': pluginYaml('a', 'apps/a', {
        source: { git: { path: 'apps/a', template: true } },
        valuesFrom: [{ kind: 'Secret', name: 'values', key: 'values.yaml' }],
      }),
      'plugins/b.yaml': pluginYaml('b', 'apps/b'),
      'apps/a/cm.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {url: "postgres://u:{{ .db.password }}@db"}\n',
      'apps/a/bad.yaml':
        'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: bad, labels: {x: "{{ .db.password }}/not/a/label"}}\n',
      'apps/b/secret.yaml': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'b' },
        stringData: { password: canary },
      }),
    });
    for (const format of ['text', 'json', 'markdown']) {
      const { stdout, stderr } = await run(scene, [folder, '--full', '-o', format]);
      for (const form of [canary, Buffer.from(canary).toString('base64').slice(0, 16)])
        assert.ok(!`${stdout}${stderr}`.includes(form), stdout);
      assert.match(stdout, /•••/);
    }
  });

  test('what is held, suspended, waiting or at fault is said, with what to do', async (t) => {
    const names = ['a', 'b', 'c', 'd'];
    const scene = await startScene(t, {
      files: Object.fromEntries(
        names.flatMap((name) => [
          [
            `plugins/${name}.yaml`,
            pluginYaml(name, `apps/${name}`, name === 'a' ? { upgrade: { approval: 'required' } } : {}),
          ],
          [`apps/${name}/cm.yaml`, configMap(name)],
        ]),
      ),
    });
    await scene.client.patch(
      scene.ref('Plugin', 'b'),
      { spec: { suspend: true } },
      { type: 'merge', fieldManager: 'test' },
    );
    const commit = await commitFiles(
      scene.repository,
      {
        'apps/a/cm.yaml': configMap('a', { a: '2' }),
        'apps/b/cm.yaml': configMap('b', { a: '2' }),
        'plugins/c.yaml': pluginYaml('c', 'apps/c', { timeout: 'soon' }),
        'plugins/e.yaml': pluginYaml('e', 'apps/d', {
          dependsOn: [{ apiVersion: 'v1', kind: 'Secret', name: 'missing' }],
          namespace: { name: 'default' },
        }),
      },
      { branch: 'topic', parent: await head(scene) },
    );
    const document = await planOf(scene, [scene.repository.url, '--ref', 'topic'], 1);
    assert.deepEqual(document.held, [
      {
        plugin: `${scene.namespace}/a`,
        reason: 'its change waits for approval (spec.upgrade.approval)',
        howToApprove: `espalier approve sync -n ${scene.namespace} --commit ${commit}`,
      },
    ]);
    assert.deepEqual(document.waits, [
      { plugin: `${scene.namespace}/b`, for: 'somebody to resume it: it is suspended' },
      { plugin: `${scene.namespace}/e`, for: 'Secret missing: does not exist' },
    ]);
    assert.deepEqual(
      document.faults.map(({ file, line }) => `${file}:${line}`),
      ['plugins/c.yaml:14'],
    );
    assert.deepEqual(
      objectsOf(document).map(({ name, action }) => [name, action]),
      [
        ['a', 'change'],
        ['d', 'unchanged'],
        ['d', 'create'],
      ],
    );
    const removal = await planOf(scene, [
      await writeFolder(t, { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') }),
    ]);
    assert.match(removal.held[0]?.reason ?? '', /3 of 4 plugins would be removed/);
    assert.deepEqual(
      objectsOf(removal)
        .filter(({ action }) => action === 'delete')
        .map(({ name }) => name),
      ['b', 'c', 'd'],
    );
  });

  test('drift that would be put back is told, with who did it; drift that is only reported is no change', async (t) => {
    const files = {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'plugins/b.yaml': pluginYaml('b', 'apps/b', { drift: { mode: 'report' } }),
      'apps/a/cm.yaml': configMap('a'),
      'apps/b/cm.yaml': configMap('b'),
    };
    const scene = await startScene(t, { files });
    await scene.agent.stop();
    for (const name of ['a', 'b'])
      await scene.client.patch(
        scene.ref('ConfigMap', name),
        { data: { a: 'by hand' } },
        { type: 'merge', fieldManager: 'night-shift' },
      );
    const document = await planOf(scene, [await writeFolder(t, files)]);
    assert.deepEqual(document.drift, [
      {
        plugin: `${scene.namespace}/a`,
        object: `ConfigMap ${scene.namespace}/a`,
        fields: ['data.a'],
        by: 'night-shift',
      },
    ]);
    assert.deepEqual(
      objectsOf(document).map(({ name, action }) => [name, action]),
      [
        ['a', 'change'],
        ['b', 'unchanged'],
      ],
    );
    assert.match(
      document.plugins[1]?.warnings[0] ?? '',
      /ConfigMap .*\/b: data\.a changed by night-shift; it stays so with drift\.mode report/,
    );
  });

  test('exit codes: plan, plan --detailed-exitcode, and diff as kubectl diff', async (t) => {
    const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/cm.yaml': configMap('a') };
    const scene = await startScene(t, { files });
    const same = await writeFolder(t, files);
    const other = await writeFolder(t, { ...files, 'apps/a/cm.yaml': configMap('a', { a: '2' }) });
    const faulty = await writeFolder(t, { ...files, 'plugins/b.yaml': 'apiVersion: [' });
    const codes = async (folder: string) => [
      (await run(scene, [folder])).code,
      (await run(scene, [folder, '--detailed-exitcode'])).code,
      (await run(scene, [folder], 'diff')).code,
    ];
    assert.deepEqual(await codes(same), [0, 0, 0]);
    assert.deepEqual(await codes(other), [0, 2, 1]);
    assert.deepEqual(await codes(faulty), [1, 1, 2]);
    assert.deepEqual((await codes(join(same, 'nowhere'))).slice(0, 2), [64, 1]);
    assert.equal((await run(scene, [same], 'diff')).stdout, '');
    const unreachable = await espalierProcess(['diff', same, '-n', scene.namespace], {
      env: { KUBECONFIG: await deadKubeconfig(t) },
    });
    assert.ok((unreachable.code ?? 0) > 1);
    assert.match(unreachable.stderr, /can't reach the API server/);
  });

  test('wrong input is told with a next step', async (t) => {
    const namespace = await testNamespace(t);
    const client = testClient();
    const folder = await writeFolder(t, {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/cm.yaml': configMap('a'),
    });
    const plan = (...args: string[]) => espalier(['plan', ...args, '-n', namespace]);
    const none = await plan(folder);
    assert.equal(none.code, 0);
    assert.match(none.stderr, /no Sync in namespace .*: planning without values, labels and account of one/);
    for (const [args, code, message] of [
      [[join(folder, 'nowhere')], 64, /nowhere" is neither a folder nor a Git URL/],
      [[folder, '--plugin', 'b'], 64, /no Plugin "b" here; there are: a/],
      [[folder, '--path', 'nowhere'], 64, /--path: there is no folder "nowhere" in/],
      [[folder, '--sync', 'platform'], 2, /no Sync "platform" in namespace/],
      [['ext::sh -c true'], 64, /neither a folder nor a Git URL/],
      [['--plugins', 'a'], 64, /unknown option/],
    ] as const) {
      const ended = await plan(...args);
      assert.equal(ended.code, code, `${args.join(' ')}: ${ended.stderr}`);
      assert.match(ended.stderr, message);
      assert.equal(ended.stdout, '');
    }
    await declareTestSync(client, { namespace, name: 'one', url: 'https://git.example.com/one.git' });
    await declareTestSync(client, { namespace, name: 'two', url: 'https://git.example.com/two.git' });
    const several = await plan(folder);
    assert.deepEqual(
      [several.code, /several Syncs: choose one with --sync \(one, two\)/.test(several.stderr)],
      [64, true],
    );
    assert.equal((await plan(folder, '--sync', 'two')).code, 0);
  });
});

function before(): Record<string, string> {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'cache' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  return {
    'plugins/a.yaml': pluginYaml('a', 'apps/a', {
      health: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', ready: 'true' }],
    }),
    'plugins/b.yaml': pluginYaml('b', 'apps/b'),
    'plugins/d.yaml': pluginYaml('d', 'apps/d'),
    'apps/d/stays.yaml': configMap('stays'),
    'apps/a/same.yaml': configMap('same'),
    'apps/a/changed.yaml': configMap('changed'),
    'apps/a/leaves.yaml': configMap('leaves'),
    'apps/d/held.yaml': configMap('held'),
    'apps/a/web.yaml': deployment('web', { replicas: 0 }),
    'apps/a/vault.yaml': JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'vault' },
      stringData: { password: 'first' },
    }),
    'apps/a/claim.yaml': JSON.stringify(claim),
    'apps/b/moves.yaml': configMap('moves'),
  };
}

function after(): Record<string, string | null> {
  return {
    ...before(),
    'plugins/b.yaml': null,
    'plugins/c.yaml': pluginYaml('c', 'apps/c'),
    'apps/a/changed.yaml': configMap('changed', { a: '2' }),
    'apps/a/leaves.yaml': null,
    'apps/d/stays.yaml': null,
    'apps/a/claim.yaml': null,
    'apps/d/held.yaml': configMap('held', { a: '1', extra: 'ours' }),
    'apps/a/web.yaml': deployment('web', { replicas: 0, image: 'registry.example.com/app:2' }),
    'apps/a/vault.yaml': JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'vault' },
      stringData: { password: 'second' },
    }),
    'apps/a/new.yaml': configMap('new'),
    'apps/d/foreign.yaml': configMap('foreign'),
    'apps/a/found.yaml': JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'found', annotations: { [ANNOTATION.adopt]: 'true' } },
      data: { a: '1' },
    }),
    'apps/b/moves.yaml': null,
    'apps/c/moves.yaml': configMap('moves', { a: '2' }),
  };
}

function map({ namespace }: Scene, name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** A folder with these files. */
async function writeFolder(t: Parameters<typeof tempDir>[0], files: Record<string, string | null>): Promise<string> {
  const folder = await tempDir(t);
  for (const [path, text] of Object.entries(files)) {
    if (text === null) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

async function run({ namespace }: Scene, args: string[], command = 'plan'): Promise<Ended> {
  return await espalier([command, ...args, '-n', namespace]);
}

async function planOf(scene: Scene, args: string[], code = 0): Promise<PlanDocument> {
  const ended = await run(scene, [...args, '-o', 'json']);
  assert.equal(ended.code, code, ended.stderr);
  return JSON.parse(ended.stdout) as PlanDocument;
}

function objectsOf({ plugins }: PlanDocument) {
  return plugins.flatMap(({ objects }) => objects);
}

function fieldsOf(object: Record<string, unknown> | undefined): unknown[][] {
  const fields = (object?.fields ?? []) as { path: string; op: string; old?: unknown; new?: unknown }[];
  return fields.map((field) => [field.path, field.op, field.old, field.new]);
}

/** Everything of the kinds that the tests use, as it is but for status. */
async function objectsIn({ client, namespace }: Scene): Promise<Map<string, string>> {
  const objects = new Map<string, string>();
  for (const [apiVersion, kind] of [
    ['v1', 'ConfigMap'],
    ['v1', 'Secret'],
    ['v1', 'PersistentVolumeClaim'],
    ['apps/v1', 'Deployment'],
  ] as const) {
    const { items } = await client.list({ apiVersion, kind, namespace });
    for (const item of items) {
      const { metadata, spec, data } = item;
      // Every namespace gets one, some time after it was made.
      if (metadata.name === 'kube-root-ca.crt') continue;
      objects.set(
        refKey(refOf({ ...item, apiVersion, kind })),
        JSON.stringify({ labels: metadata.labels, uid: metadata.uid, spec, data }),
      );
    }
  }
  return objects;
}

async function head({ client, namespace }: Scene): Promise<string> {
  return (await syncReaches(client, namespace, 'Ready')).status?.commit ?? '';
}

/** A Secret of which a webhook has to approve that does not answer. */
async function guardedByNobody(t: TestContext): Promise<KubeObject> {
  const name = uniqueName('guard');
  const matchLabels = { guard: name };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await testClient().create({
    ...{ apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name } },
    webhooks: [
      {
        name: 'guard.example.com',
        clientConfig: { url: 'https://127.0.0.1:9/' },
        objectSelector: { matchLabels },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['*'] }],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  t.after(() => testClient().delete({ apiVersion, kind: 'ValidatingWebhookConfiguration', name }));
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'guarded', labels: matchLabels } };
}

function gadget(group: string, spec: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'one' }, spec });
}

function definition(group: string): string {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
}

async function deadKubeconfig(t: Parameters<typeof tempDir>[0]): Promise<string> {
  const path = join(await tempDir(t), 'kubeconfig');
  const cluster = { server: 'http://127.0.0.1:9' };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    clusters: [{ name: 'x', cluster }],
    users: [{ name: 'x', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}
