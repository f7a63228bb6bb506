import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateTree } from '../../src/cli/validate-tree.ts';
import { findViews } from '../../src/cli/views.ts';
import { textTree } from '../declare/text-tree.ts';

const OPTIONS = { path: '.', namespace: 'espalier-system' };

function plugin(name: string, spec = ''): string {
  return `apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: ${name}}\nspec:\n  kind: helm\n  source: {chart: {repository: https://charts.example.com, name: ${name}, version: "1"}}\n${spec}`;
}

async function faultsOf(files: Record<string, string>, views: Parameters<typeof validateTree>[1] = [{ labels: {} }]) {
  const { faults } = await validateTree(textTree(files), views, OPTIONS);
  return faults.map(({ file, line, message, overlay }) => [file, line, message, overlay]);
}

test('a sound repository has no faults, and is counted', async () => {
  const files = { 'a.yaml': plugin('a'), 'b.yaml': plugin('b', '  dependsOn: [{name: a}]\n') };
  assert.deepEqual(await validateTree(textTree(files), [{ labels: {} }], OPTIONS), {
    counts: { Plugin: 2 },
    faults: [],
  });
});

test('dependencies on nothing, and in a circle, are faults where the Plugin says so', async () => {
  const files = {
    'a.yaml': plugin('a', '  dependsOn: [{name: b}]\n'),
    'b.yaml': plugin('b', '  dependsOn: [{name: a}]\n'),
    'c.yaml': `# first\n${plugin('c', '  dependsOn: [{name: ghost}]\n')}`,
  };
  assert.deepEqual(await faultsOf(files), [
    ['a.yaml', 7, 'dependsOn goes in a circle: a → b → a', undefined],
    ['b.yaml', 7, 'dependsOn goes in a circle: b → a → b', undefined],
    ['c.yaml', 8, 'dependsOn names the Plugin espalier-system/ghost, which nothing declares', undefined],
  ]);
});

test('who depends on a Plugin that is declared but faulty is not at fault', async () => {
  const files = { 'a.yaml': plugin('a', '  timeout: soon\n'), 'b.yaml': plugin('b', '  dependsOn: [{name: a}]\n') };
  const faults = await faultsOf(files);
  assert.deepEqual(
    faults.map(([file, line]) => [file, line]),
    [['a.yaml', 7]],
  );
});

test('an expression that is no CEL is a fault before there is an object to try it on', async () => {
  const health = `  health: [{apiVersion: v1, kind: Pod, ready: "status.phase =="}]\n`;
  const [fault, ...others] = await faultsOf({ 'a.yaml': plugin('a', health) });
  assert.deepEqual(others, []);
  assert.match(String(fault?.[2]), /^spec\.health\[0\]\.ready is no CEL expression: /);
});

test('with all clusters each overlay is looked at, and a fault says which one it needs', async () => {
  const tree = textTree({
    'a.yaml': plugin('a', '  timeout: never\n'),
    'b.yaml': plugin('b'),
    'clusters/prod/b.yaml': 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: b}\nspec: {poll: x}\n',
    'clusters/_tier=prod/b.yaml':
      'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: b}\nspec: {timeout: y}\n',
    'clusters/README.md': 'none',
  });
  const { views } = await findViews(tree, '.', { label: {}, allClusters: true });
  const { faults } = await validateTree(tree, views, OPTIONS);
  assert.deepEqual(
    faults.map(({ file, overlay }) => [file, overlay]),
    [
      ['a.yaml', undefined],
      ['clusters/_tier=prod/b.yaml', '_tier=prod'],
      ['clusters/prod/b.yaml', 'prod'],
    ],
  );
});

test('overlays that were named and are not there are told', async () => {
  const tree = textTree({ 'sub/clusters/prod/b.yaml': '', 'sub/a.yaml': '' });
  const found = await findViews(tree, 'sub', { cluster: 'prdo', label: { tier: 'prod' } });
  assert.deepEqual(found, {
    views: [{ name: 'prdo', labels: { tier: 'prod' } }],
    unknown: ['sub/clusters/_tier=prod', 'sub/clusters/prdo'],
  });
});

const MAP = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

function folderPlugin(name: string, kind = 'manifests', more = ''): string {
  return `apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: ${name}}\nspec:\n  kind: ${kind}\n  source: {git: {path: apps/${name}${more}}}\n`;
}

test('manifests that will not render are faults with their place, each of them, and once for all views', async () => {
  const files = {
    'plugins/a.yaml': folderPlugin('a'),
    'apps/a/fine.yaml': MAP,
    'apps/a/notes.txt': '\t{',
    'apps/a/tab.yaml': 'metadata:\n\tname: x\n',
    'apps/a/two.yaml': `kind: ConfigMap\n---\n${MAP}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, labels: {on: true}}\n`,
    'clusters/prod/other.yaml': plugin('other'),
  };
  const views = [{ labels: {} }, { overlay: 'prod', name: 'prod', labels: {} }];
  const { faults } = await validateTree(textTree(files), views, { ...OPTIONS, path: '.' });
  assert.deepEqual(
    faults.map(({ file, line, column, object, message }) => [file, line, column, object, message]),
    [
      ['apps/a/tab.yaml', 2, 1, 'tab characters must not be used in indentation'],
      ['apps/a/two.yaml', 1, 1, 'has no valid apiVersion'],
      ['apps/a/two.yaml', 3, 1, 'ConfigMap a is declared twice: apps/a/fine.yaml:1 and apps/a/two.yaml:3'],
      ['apps/a/two.yaml', 7, 1, '(ConfigMap b): metadata.labels "true" must be text, but is a boolean; quote it'],
    ].map(([file, line, column, message]) => [
      file,
      line,
      column,
      'Plugin espalier-system/a',
      file === 'apps/a/tab.yaml' ? `not valid YAML: ${message}` : message,
    ]),
  );
});

test('a kustomization that refers to nothing, or to what is no object, is at fault; what needs a program is left alone', async () => {
  const files = {
    'plugins/all.yaml': [
      folderPlugin('lost', 'kustomize'),
      folderPlugin('broken', 'kustomize'),
      folderPlugin('fine', 'kustomize'),
      folderPlugin('text', 'manifests', ', template: true'),
    ].join('---\n'),
    'apps/lost/kustomization.yaml': 'resources: [gone.yaml]\n',
    'apps/broken/kustomization.yaml': 'resources: [../base]\n',
    'apps/base/kustomization.yaml': 'resources: [one.yaml]\n',
    'apps/base/one.yaml': `${MAP}---\nkind: [\n`,
    'apps/fine/kustomization.yaml': 'resources: [one.yaml]\nconfigMapGenerator: [{name: g, files: [raw.yaml]}]\n',
    'apps/fine/one.yaml': MAP,
    'apps/fine/raw.yaml': '{{ not: [yaml }}',
    'apps/text/one.yaml': '{{ if .Values.x }}\n{{ end }}\n',
  };
  const { faults } = await validateTree(textTree(files), [{ labels: {} }], OPTIONS);
  assert.deepEqual(
    faults.map(({ file, line, object }) => [file, line, object]),
    [
      ['apps/base/one.yaml', 6, 'Plugin espalier-system/broken'],
      ['apps/lost/kustomization.yaml', 1, 'Plugin espalier-system/lost'],
    ],
  );
  assert.match(faults[1]?.message ?? '', /^refers to "gone\.yaml", which does not exist/);
});
