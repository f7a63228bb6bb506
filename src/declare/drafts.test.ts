import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Drafts, draftObjects, type LayerParts } from './drafts.ts';
import { partsOf, plugin } from './parts.fixture.ts';

/** Layers by folder; each text is one file of the layer. */
function draft(...layers: string[][]): Drafts {
  const folders: LayerParts[] = layers.map((texts, depth) => ({
    folder: `l${depth}`,
    parts: texts.flatMap((text, index) => partsOf(`l${depth}/${index}.yaml`, text)),
  }));
  return draftObjects(folders, 'ns');
}

function specs({ drafts }: Drafts): Record<string, unknown> {
  return Object.fromEntries([...drafts].map(([key, one]) => [key.slice('espalier.dev/'.length), one.value?.spec]));
}

describe('overlays', () => {
  test('are merged over the base in their order', () => {
    const made = draft(
      [plugin('a', '{x: 0, y: 0, z: 0, l: [1, 2]}')],
      [plugin('a', '{y: 1, z: 1, l: [3]}')],
      [plugin('a', '{z: 2, x: null}')],
    );
    assert.deepEqual(specs(made), { 'Plugin/ns/a': { y: 1, z: 2, l: [3] } });
    const [only] = made.drafts.values();
    assert.deepEqual(
      only?.parts.map((part) => part.file),
      ['l0/0.yaml', 'l1/0.yaml', 'l2/0.yaml'],
    );
  });

  test('leave the base as it was parsed', () => {
    const base = partsOf('a.yaml', plugin('a', '{x: {y: 1}}'));
    const layers = [
      { folder: '', parts: base },
      { folder: 'o', parts: partsOf('b.yaml', plugin('a', '{x: {y: 2}}')) },
    ];
    draftObjects(layers, 'ns');
    assert.deepEqual(base[0]?.value.spec, { x: { y: 1 } });
  });

  test('with a name that nothing below has add an object, nulls included', () => {
    const made = draft([plugin('a', '{x: 1}')], [plugin('b', '{values: {tls: null}}')]);
    assert.deepEqual(specs(made), { 'Plugin/ns/a': { x: 1 }, 'Plugin/ns/b': { values: { tls: null } } });
    assert.deepEqual(
      [...made.drafts.values()].map((one) => one.added),
      [false, true],
    );
  });

  test('with spec: null take the object out, and a later one may bring it back', () => {
    assert.deepEqual(specs(draft([plugin('a', '{x: 1}')], [plugin('a', 'null')])), { 'Plugin/ns/a': undefined });
    assert.deepEqual(specs(draft([plugin('a', '{x: 1}')], [plugin('a', 'null')], [plugin('a', '{y: 2}')])), {
      'Plugin/ns/a': { y: 2 },
    });
  });

  test('that take out what is not there are a fault', () => {
    const [only] = draft([], [plugin('a', 'null')]).drafts.values();
    assert.match(only?.faults[0]?.message ?? '', /nothing below this overlay declares it/);
    assert.deepEqual([only?.faults[0]?.line, only?.faults[0]?.column], [4, 7]);
  });

  test('may leave the namespace out where just one object below has that name', () => {
    const made = draft([plugin('a', '{x: 1}', ', namespace: other')], [plugin('a', '{y: 1}')]);
    assert.deepEqual(specs(made), { 'Plugin/other/a': { x: 1, y: 1 } });
  });

  test('mean the default namespace where an object is there', () => {
    const made = draft([plugin('a', '{x: 1}', ', namespace: other'), plugin('a', '{x: 2}')], [plugin('a', '{y: 1}')]);
    assert.deepEqual(specs(made), { 'Plugin/other/a': { x: 1 }, 'Plugin/ns/a': { x: 2, y: 1 } });
  });

  test('must say the namespace where several objects below have that name', () => {
    const made = draft(
      [plugin('a', '{}', ', namespace: one'), plugin('a', '{}', ', namespace: two')],
      [plugin('a', '{y: 1}')],
    );
    assert.match(made.faults[0]?.message ?? '', /expected metadata.namespace: one or two/);
    assert.deepEqual(made.uncertainFiles, ['l1/0.yaml']);
  });
});

describe('declared twice', () => {
  test('in one layer, an object is at fault at both places, each naming the other', () => {
    const made = draft([
      plugin('a', '{x: 1}'),
      `# other\n${plugin('a', '{x: 2}', ', namespace: ns')}`,
      plugin('b', '{}'),
    ]);
    const faults = made.drafts.get('espalier.dev/Plugin/ns/a')?.faults ?? [];
    assert.deepEqual(
      faults.map((fault) => [fault.code, fault.file, fault.line, fault.message]),
      [
        ['DuplicateDeclaration', 'l0/0.yaml', 1, 'declared again at l0/1.yaml:2: remove one of the two'],
        ['DuplicateDeclaration', 'l0/1.yaml', 2, 'declared again at l0/0.yaml:1: remove one of the two'],
      ],
    );
    assert.deepEqual(made.drafts.get('espalier.dev/Plugin/ns/b')?.faults, []);
  });

  test('in one overlay too', () => {
    const made = draft([plugin('a', '{x: 1}')], [plugin('a', '{x: 2}'), plugin('a', '{x: 3}')]);
    assert.equal(made.drafts.get('espalier.dev/Plugin/ns/a')?.faults.length, 2);
  });
});

describe('a document that does not say what it declares', () => {
  const cases: [title: string, text: string, message: RegExp, line: number][] = [
    ['has no kind', 'apiVersion: espalier.dev/v1alpha1\nmetadata: {name: a}\n', /kind/, 1],
    [
      'has an unknown kind',
      'apiVersion: espalier.dev/v1alpha1\nkind: Plug\nmetadata: {name: a}\n',
      /"Plug".*one of/,
      2,
    ],
    [
      'has another version',
      'apiVersion: espalier.dev/v9\nkind: Plugin\nmetadata: {name: a}\n',
      /espalier.dev\/v1alpha1/,
      1,
    ],
    ['has no name', 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {}\n', /metadata.name is missing/, 3],
    [
      'has a name that is no text',
      'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: no}\n',
      /metadata.name is not text.*in quotes/,
      3,
    ],
    [
      'has a namespace that is no text',
      'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: a, namespace: 1}\n',
      /namespace/,
      3,
    ],
  ];
  for (const [title, text, message, line] of cases) {
    test(`${title}: its file is uncertain, the others go on`, () => {
      const made = draft([text, plugin('good', '{}')]);
      assert.deepEqual(made.uncertainFiles, ['l0/0.yaml']);
      assert.match(made.faults[0]?.message ?? '', message);
      assert.equal(made.faults[0]?.line, line);
      assert.deepEqual(Object.keys(specs(made)), ['Plugin/ns/good']);
    });
  }
});
