import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isError } from '../../src/api/index.ts';
import { describeFault } from '../../src/declare/fault.ts';
import { valueAt } from '../../src/declare/merge.ts';
import { createReader } from '../../src/declare/reader.ts';
import { namesOf, PROD, platform, plugin, read } from './platform.ts';
import { textTree } from './text-tree.ts';

describe('what is searched', () => {
  test('declarations are found in any YAML and JSON file of any folder', async () => {
    const json = JSON.stringify({
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: { name: 'c' },
      spec: { kind: 'manifests', source: { git: { path: 'apps/a' } } },
    });
    const found = await read({
      ...platform('a'),
      'b.yml': `# none\n---\n${plugin('b').replace('apps/b', 'apps/a')}`,
      'x/y/z/c.json': json,
      'x/README.md': plugin('readme'),
    });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(namesOf(found), ['a', 'b', 'c']);
  });

  test('hidden files, charts, kustomizations, add-ons and folders that a Plugin names are passed over', async () => {
    const files = platform('a');
    for (const folder of [
      '.github',
      'charts/x',
      'charts/x/templates',
      'k/base',
      'apps/a',
      'apps/a/deep',
      'manifests/m',
      'clusters/other',
    ]) {
      files[`${folder}/hidden.yaml`] = plugin('hidden');
      files[`${folder}/broken.yaml`] = 'espalier.dev/ [';
    }
    files['.hidden.yaml'] = plugin('hidden');
    files['charts/x/Chart.yaml'] = 'name: x\n';
    files['k/base/kustomization.yaml'] = 'resources: []\n';
    const found = await read(files);
    assert.deepEqual(found.faults, []);
    assert.deepEqual(found.brokenFiles, []);
    assert.deepEqual(namesOf(found), ['a', 'm']);
  });

  test("the Sync's own folder is searched even when it is a kustomization, and nothing outside it is", async () => {
    const found = await read(
      {
        ...platform('outside'),
        'here/kustomization.yaml': 'resources: []\n',
        'here/a.yaml': plugin('a').replace('apps/a', 'apps/outside'),
      },
      { path: './here/' },
    );
    assert.deepEqual(namesOf(found), ['a']);
    assert.deepEqual(found.objects[0]?.origin, { file: 'here/a.yaml', line: 1, column: 1 });
  });

  test('documents of other kinds are none of ours, whatever they hold', async () => {
    const found = await read({
      ...platform('a'),
      'ci.yaml': 'a: !reference [b]\na: 2\n__proto__: {x: 1}\n',
      'tsconfig.json': '{ // comments\n "a": 1, }',
      'empty.yaml': '',
      'list.yaml': '- a\n',
    });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(namesOf(found), ['a']);
  });

  test('a link where a declaration could be is a fault', async () => {
    const found = await read({
      ...platform('a'),
      'plugins/b.yaml': '-> ../b.yaml',
      'clusters/prod': '-> ../else',
      'manifests/m': '-> ../m',
      docs: '-> x',
    });
    assert.deepEqual(
      found.faults.map((fault) => fault.file),
      ['clusters/prod', 'manifests/m', 'plugins/b.yaml'],
    );
    assert.deepEqual(found.brokenFiles.sort(), ['clusters/prod', 'manifests/m', 'plugins/b.yaml']);
    assert.deepEqual(namesOf(found), ['a']);
  });

  test('entries with hostile names are names and nothing else', async () => {
    const found = await read({
      ...platform('a'),
      'b\\..\\x.yaml': plugin('b').replace('apps/b', 'apps/a'),
      '.git/hooks/x.yaml': plugin('c'),
      'manifests/a\\..\\y/a.yaml': 'a: 1\n',
    });
    assert.deepEqual(namesOf(found), ['a', 'b']);
    assert.match(found.faults.map(describeFault).join(), /^manifests\/a\\\.\.\\y:1:1: .*metadata\.name is/);
  });

  test('a missing or wrong path is an error, never an empty answer', async () => {
    for (const path of ['gone', 'plugins/a.yaml', 'plugins/gone']) {
      await assert.rejects(read(platform('a'), { path }), (error) => isError(error, 'SourceMissing'), path);
    }
  });

  test('a folder without any declaration declares nothing', async () => {
    const found = await read({ 'README.md': 'x' });
    assert.deepEqual([found.objects, found.faults], [[], []]);
  });
});

describe('overlays', () => {
  const overlay = (spec: string, name = 'a'): string =>
    `apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
  const files = {
    ...platform('a', 'b'),
    'clusters/_tier=prod/a.yaml': overlay('{timeout: 1m, values: {from: tier, x: 1}}'),
    'clusters/_region=eu/a.yaml': overlay('{timeout: 2m, values: {from: region}}'),
    'clusters/_tier=test/a.yaml': overlay('{timeout: 9m}'),
    'clusters/prod/deep/a.yaml': overlay('{values: {from: prod}}'),
    'clusters/prod/b.yaml': overlay('null', 'b'),
    'clusters/prod/manifests/local/x.yaml': 'a: {{ .b }}\n',
    'clusters/test/a.yaml': 'broken: [',
  };
  const labels = { tier: 'prod', region: 'eu' };

  test('apply by label in name order, then by the name of the cluster', async () => {
    const found = await read(files, { cluster: { name: 'prod', labels } });
    assert.deepEqual(found.faults, []);
    const spec = found.objects.find((one) => one.object.metadata.name === 'a')?.object.spec as Record<string, unknown>;
    assert.equal(spec.timeout, '1m');
    assert.deepEqual(spec.values, { from: 'prod', x: 1 });
    assert.deepEqual(namesOf(found), ['a', 'local']);
  });

  test('of other clusters are not even read', async () => {
    const found = await read(files, { cluster: { name: 'none', labels: {} } });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(namesOf(found), ['a', 'b']);
  });

  test('are to blame for what they say, the base for the rest', async () => {
    const found = await read({ ...platform('a'), 'clusters/prod/a.yaml': overlay('{timeout: soon}') });
    assert.deepEqual(
      found.faults.map((fault) => [fault.file, fault.line, fault.column, fault.path]),
      [['clusters/prod/a.yaml', 4, 17, '/spec/timeout']],
    );
  });

  test('with a slip in the name say that nothing below has it', async () => {
    const found = await read({ ...platform('a'), 'clusters/prod/a.yaml': overlay('{timeout: 1m}', 'aa') });
    assert.match(
      found.faults[0]?.message ?? '',
      /nothing below this overlay declares Plugin espalier-system\/aa, so it must be whole/,
    );
    assert.deepEqual(namesOf(found), ['a']);
  });

  test('change an add-on by its name', async () => {
    const found = await read({
      'manifests/vip/addon.yaml': 'parameters: {ip: 1, net: x}\n',
      'manifests/vip/a.yaml': 'a: {{ .ip }}\n',
      'clusters/prod/vip.yaml': overlay('{values: {ip: 2, net: null}}', 'vip'),
    });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(valueAt(found.objects[0]?.object, 'spec', 'values'), { ip: 2 });
    assert.deepEqual(
      found.objects[0]?.parts.map((part) => part.file),
      ['manifests/vip/addon.yaml', 'clusters/prod/vip.yaml'],
    );
  });
});

describe('add-ons', () => {
  test('take values that fit their schema: an overlay that says others is told with its place', async () => {
    const found = await read({
      'manifests/vip/addon.yaml':
        'schema:\n  properties: {ip: {type: string}, port: {type: integer, default: 80}}\n  required: [ip]\n',
      'manifests/vip/a.yaml': 'a: {{ .ip }}\n',
      'clusters/prod/vip.yaml':
        'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: vip}\nspec: {values: {ip: 2, ports: 1}}\n',
    });
    assert.deepEqual(
      found.faults.map(({ file, line, message }) => `${file}:${line}: ${message}`),
      [
        'clusters/prod/vip.yaml:4: parameter ip is the number 2, expected text',
        'clusters/prod/vip.yaml:4: parameter ports is not known; did you mean port?',
      ],
    );
    assert.deepEqual(found.refused.length, 1);
  });

  test('are folders with YAML in them, at any depth; others in manifests/ are not', async () => {
    const found = await read({
      'manifests/flat/a.yaml': '{{ not yaml',
      'manifests/deep/x/a.yml': 'a: 1\n',
      'manifests/docs/README.md': 'x',
      'manifests/chart/Chart.yaml': 'name: x\n',
      'manifests/.hidden/a.yaml': 'a: 1\n',
      'manifests/plain/a.yaml': 'a: 1\n',
      'manifests/plugin.yaml': plugin('plain-plugin').replace('apps/plain-plugin', 'manifests/plain'),
    });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(namesOf(found), ['deep', 'flat', 'plain-plugin']);
  });

  test('with two files that say what they are are told which of them counts', async () => {
    const two = { 'manifests/vip/addon.yaml': 'name: a\n', 'manifests/vip/addon.yml': 'name: b\n' };
    const found = await read({ ...two, 'manifests/vip/a.yaml': 'a: 1\n' });
    assert.deepEqual(
      found.faults.map(({ file, message }) => `${file}: ${message}`),
      ['manifests/vip/addon.yml: addon.yaml stands beside it and counts: keep one of the two'],
    );
    assert.deepEqual(namesOf(found), ['a']);
  });

  test('are declared in the folder that the Sync follows, with paths from the root of the repository', async () => {
    const found = await read(
      { 'platform/manifests/vip/a.yaml': 'a: 1\n', 'manifests/not/a.yaml': 'a: 1\n' },
      { path: 'platform' },
    );
    assert.deepEqual(
      found.objects.map((one) => one.paths),
      [['platform/manifests/vip']],
    );
  });

  test('are refused alone when addon.yaml is wrong, with the place', async () => {
    const found = await read({
      'manifests/good/a.yaml': 'a: 1\n',
      'manifests/bad/a.yaml': 'a: 1\n',
      'manifests/bad/addon.yaml': 'name: bad\nparameters: [1]\ndependsOn:\n  - name: [x]\ncolour: red\n',
    });
    assert.deepEqual(namesOf(found), ['good']);
    assert.deepEqual(
      found.faults.map((fault) => [fault.file, fault.line, fault.path]),
      [
        ['manifests/bad/addon.yaml', 2, '/parameters'],
        ['manifests/bad/addon.yaml', 4, '/spec/dependsOn/0/name'],
        ['manifests/bad/addon.yaml', 5, '/colour'],
      ],
    );
  });
});

describe('inputs', () => {
  const inputs = async (files: Record<string, string | Uint8Array>) =>
    Object.fromEntries((await read(files)).objects.map((one) => [one.object.metadata.name, one.inputs]));

  test('change with the content that a declaration names, and with nothing else', async () => {
    const before = await inputs(platform('a', 'b'));
    const after = await inputs({
      ...platform('a', 'b'),
      'apps/a/more.txt': 'x',
      'README.md': 'x',
      'plugins/b.yaml': `# comment\n${plugin('b')}`,
    });
    assert.notEqual(after.a, before.a);
    assert.equal(after.b, before.b);
  });

  test('of a folder of another repository are not looked up', async () => {
    const text = plugin('a').replace('{path: apps/a}', '{path: apps/a, url: https://git.example.com/x.git}');
    const found = await read({ 'a.yaml': text });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(found.objects[0]?.paths, []);
  });

  test('tree and commit belong to the Sync', async () => {
    const id = '0'.repeat(40);
    const found = await read({
      ...platform('a'),
      'plugins/a.yaml': plugin('a').replace('{path: apps/a}', `{path: apps/a, tree: "${id}", commit: "${id}"}`),
    });
    assert.deepEqual(
      found.faults.map((fault) => fault.path),
      ['/spec/source/git/tree', '/spec/source/git/commit'],
    );
  });

  test('an Extension names the content of each of its versions', async () => {
    const text =
      'apiVersion: espalier.dev/v1alpha1\nkind: Extension\nmetadata: {name: x}\nspec:\n  versions:\n    - {app: "1", source: {git: {path: apps/a}}}\n    - {app: "2", source: {git: {path: gone}}}\n';
    const found = await read({ ...platform('a'), 'x.yaml': text });
    assert.deepEqual(
      found.faults.map((fault) => [fault.code, fault.line, fault.path]),
      [['SourceMissing', 7, '/spec/versions/1/source/git/path']],
    );
    const good = await read({ ...platform('a'), 'x.yaml': text.replace('gone', 'apps/a/config.yaml') });
    assert.deepEqual(good.objects.find((one) => one.object.kind === 'Extension')?.paths, [
      'apps/a',
      'apps/a/config.yaml',
    ]);
  });
});

describe('reading again', () => {
  test('a commit that touches one file parses one file', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
    const reader = createReader();
    const before = await reader.read(textTree(platform(...names)), PROD);
    const tree = textTree({ ...platform(...names), 'plugins/p7.yaml': plugin('p7', 'timeout: 7m') });
    const after = await reader.read(tree, PROD);
    assert.deepEqual(tree.reads, ['plugins/p7.yaml']);
    assert.equal(after.objects.length, 50);
    const changed = after.objects.filter((one, index) => one.inputs !== before.objects[index]?.inputs);
    assert.deepEqual(
      changed.map((one) => one.object.metadata.name),
      ['p7'],
    );
  });

  test('what a caller writes into an object is not there the next time', async () => {
    const reader = createReader();
    const tree = textTree(platform('a'));
    const first = (await reader.read(tree, PROD)).objects[0];
    assert.ok(first !== undefined);
    first.object.metadata.labels = { changed: 'yes' };
    (first.object.spec as { source: { git: { commit?: string } } }).source.git.commit = 'x';
    const second = (await reader.read(tree, PROD)).objects[0];
    assert.equal(second?.object.metadata.labels, undefined);
    assert.deepEqual(second?.inputs, first.inputs);
    assert.equal(valueAt(second?.object, 'spec', 'source', 'git', 'commit'), undefined);
  });

  test('finds the place of a fault in a file that was parsed before', async () => {
    const reader = createReader();
    const files = { ...platform('a'), 'plugins/a.yaml': plugin('a', 'timeout: 5') };
    for (let times = 0; times < 2; times += 1) {
      const { faults } = await reader.read(textTree(files), PROD);
      assert.deepEqual(
        faults.map((fault) => [fault.line, fault.column]),
        [[9, 12]],
      );
    }
  });

  test('a thousand files take no more than a few seconds of a slow machine, and a tenth of it again', async () => {
    const files = platform(...Array.from({ length: 1_000 }, (_, index) => `p${index}`));
    const tree = textTree(files);
    const reader = createReader();
    const started = process.cpuUsage().user;
    assert.equal((await reader.read(tree, PROD)).objects.length, 1_000);
    assert.ok(process.cpuUsage().user - started < 10_000_000);
    assert.equal((await reader.read(tree, PROD)).objects.length, 1_000);
    assert.equal(tree.reads.filter((path) => path.startsWith('plugins/')).length, 1_000);
  });
});
