import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHidden, isRendered, isWithin, overlayNames } from './layout.ts';

test('overlays by label come in name order, and the own one of the cluster last', () => {
  assert.deepEqual(overlayNames({ name: 'a', labels: { tier: 'prod', region: 'eu' } }), [
    '_region=eu',
    '_tier=prod',
    'a',
  ]);
  assert.deepEqual(overlayNames({ labels: {} }), []);
});

test('charts and kustomizations are recognised by their file', () => {
  for (const name of ['Chart.yaml', 'kustomization.yaml', 'kustomization.yml', 'Kustomization'])
    assert.ok(isRendered(['x', name]));
  assert.ok(!isRendered(['chart.yaml', 'values.yaml']));
});

test('a path is within a folder, not within one whose name merely begins alike', () => {
  assert.ok(isWithin('a/b/c', 'a/b') && isWithin('a/b', 'a/b') && isWithin('a', ''));
  assert.ok(!isWithin('a/bc', 'a/b'));
});

test('dot files are hidden', () => assert.ok(isHidden('.github') && !isHidden('github')));
