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
