import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LABEL, type Plugin } from '../api/index.ts';
import { Children } from './children.ts';

function nestedIn(parent: string): Plugin {
  const labels = { [LABEL.plugin]: parent, [LABEL.pluginNamespace]: 'apps' };
  return { metadata: { name: 'any', namespace: 'apps', labels } } as unknown as Plugin;
}

const ALONE = { metadata: { name: 'any', namespace: 'apps' } } as Plugin;

describe('children of Plugins', () => {
  test('several that share a parent are all its children, and go one by one', () => {
    const children = new Children();
    for (const key of ['apps/a', 'apps/b', 'apps/c']) children.update(key, nestedIn('parent'));
    assert.deepEqual(children.of('apps/parent'), ['apps/a', 'apps/b', 'apps/c']);
    children.update('apps/b', undefined);
    assert.deepEqual(children.of('apps/parent'), ['apps/a', 'apps/c']);
    assert.deepEqual(children.of('apps/a'), []);
  });

  test('one whose labels name another parent changes sides', () => {
    const children = new Children();
    children.update('apps/a', nestedIn('one'));
    children.update('apps/a', nestedIn('other'));
    assert.deepEqual(children.of('apps/one'), []);
    assert.deepEqual(children.of('apps/other'), ['apps/a']);
  });

  test('one whose labels are taken away stands for itself, and may come back', () => {
    const children = new Children();
    children.update('apps/a', nestedIn('one'));
    children.update('apps/a', ALONE);
    assert.deepEqual(children.of('apps/one'), []);
    children.update('apps/a', nestedIn('one'));
    assert.deepEqual(children.of('apps/one'), ['apps/a']);
  });

  test('a change that leaves its parent keeps it where it is', () => {
    const children = new Children();
    for (const key of ['apps/a', 'apps/b', 'apps/a']) children.update(key, nestedIn('one'));
    assert.deepEqual(children.of('apps/one'), ['apps/a', 'apps/b']);
  });

  test('one that names itself is its own child, as its labels say', () => {
    const children = new Children();
    children.update('apps/one', nestedIn('one'));
    assert.deepEqual(children.of('apps/one'), ['apps/one']);
  });

  test('the removal of what nobody knew is no change', () => {
    const children = new Children();
    children.update('apps/a', undefined);
    assert.deepEqual(children.of('apps/a'), []);
  });
});
