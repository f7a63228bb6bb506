import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION, type Plugin } from '../api/index.ts';
import { memoryTree } from '../git/memorytree.ts';
import { readDeclarations } from './reader.ts';

const PLUGIN = (name: string, spec: string): string =>
  `apiVersion: ${API_VERSION}\nkind: Plugin\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

async function read(files: Record<string, string>, name?: string) {
  const entries = Object.entries(files).map(([path, text]) => {
    return [path, { type: 'file', data: Buffer.from(text) }] as const;
  });
  const tree = memoryTree(new Map(entries), 'local');
  const { objects, faults, refused } = await readDeclarations(tree, {
    ...{ path: '.', cluster: { name, labels: {} }, namespace: 'sys' },
  });
  const plugins = objects.map(({ object, origin }) => {
    const { kind, source, timeout } = (object as unknown as Plugin).spec;
    return [object.metadata.name, kind, source.git?.path, timeout, `${origin.file}:${origin.line}`];
  });
  return { plugins, faults, refused: refused.map(({ key }) => key) };
}

describe('a folder with an expansion.yaml', () => {
  const files = {
    'packages/demo/expansion.yaml': '# demo\nexpansion_name: shown\ncharts: []\n',
    'packages/demo/hooks/plugin.yaml': PLUGIN('inner', '{kind: manifests, source: {git: {path: x}}}'),
  };

  test('is a Plugin with the name of the package, and nothing in it declares anything', async () => {
    const shown = ['shown', 'expansion', 'packages/demo', undefined, 'packages/demo/expansion.yaml:2'];
    assert.deepEqual(await read(files), { plugins: [shown], faults: [], refused: [] });
    const unnamed = await read({ 'manifests/demo/expansion.yaml': 'charts: []\n' });
    assert.deepEqual(
      unnamed.plugins.map(([name]) => name),
      ['demo'],
    );
  });

  test('takes overlays: other fields, or none of it', async () => {
    const overlaid = {
      ...files,
      'clusters/one/demo.yaml': PLUGIN('shown', '{timeout: 9m}'),
      'clusters/two/demo.yaml': PLUGIN('shown', 'null'),
    };
    assert.equal((await read(overlaid, 'one')).plugins[0]?.[3], '9m');
    assert.deepEqual((await read(overlaid, 'two')).plugins, []);
  });

  test('is not one more Plugin where a declaration names it', async () => {
    const named = { ...files, 'a.yaml': PLUGIN('mine', '{kind: expansion, source: {git: {path: packages/demo}}}') };
    assert.deepEqual(
      (await read(named)).plugins.map(([name]) => name),
      ['mine'],
    );
  });

  test('that is no YAML is told, and what is known of it stays', async () => {
    const { faults, refused, plugins } = await read({
      'packages/demo/expansion.yaml': 'expansion_name: demo\n  x: [\n',
    });
    assert.equal(faults[0]?.file, 'packages/demo/expansion.yaml');
    assert.deepEqual([plugins, refused.length], [[], 1]);
  });
});
