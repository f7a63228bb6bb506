import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { edit } from '../../test/api/edit.ts';
import { BAD, GOOD } from '../../test/api/faults.ts';
import { PLUGIN, SAMPLES, SYNC } from '../../test/api/samples.ts';
import type { KubeObject } from './objects.ts';
import { validateObject } from './validate.ts';

describe('accepts', () => {
  for (const sample of SAMPLES) {
    test(`the sample ${sample.kind} ${sample.metadata.name}`, () => {
      assert.deepEqual(validateObject(sample), []);
    });
  }
  for (const { title, object } of GOOD) {
    test(title, () => assert.deepEqual(validateObject(object), []));
  }
});

describe('refuses', () => {
  for (const { title, object, path, message } of BAD) {
    test(title, () => {
      const violations = validateObject(object);
      assert.equal(violations.length, 1, JSON.stringify(violations));
      assert.equal(violations[0]?.path, path);
      assert.match(violations[0]?.message ?? '', message);
      assert.notEqual(violations[0]?.expected, '');
    });
  }
});

test('reports every fault at once', () => {
  const faults: [string, unknown][] = [
    ['/metadata/labels', { tier: 1 }],
    ['/spec/kind', 'helmm'],
    ['/spec/timout', '5m'],
    ['/spec/poll', 'x'],
    ['/spec/drift/mode', 'Repair'],
    ['/spec/source', {}],
  ];
  const object = faults.reduce<KubeObject>((edited, [path, value]) => edit(edited, path, value), PLUGIN);
  const paths = validateObject(object).map((violation) => violation.path);
  const expected = faults.map(([path]) => (path === '/metadata/labels' ? `${path}/tier` : path));
  assert.deepEqual(paths.toSorted(), expected.toSorted());
});

test('names the kinds there are for a kind that is none of them', () => {
  const [violation] = validateObject({ ...PLUGIN, kind: 'Plugins' });
  const message =
    'kind is "Plugins", expected one of Sync, Plugin, Extension, ExtensionInstance (did you mean Plugin?)';
  assert.equal(violation?.message, message);
});

test('names the version there is for another one', () => {
  const [violation] = validateObject({ ...PLUGIN, apiVersion: 'espalier.dev/v1' });
  assert.match(violation?.message ?? '', /^apiVersion is "espalier.dev\/v1", expected espalier.dev\/v1alpha1/);
});

test('never repeats the credentials of a URL', () => {
  const url = 'ftp://u:tok%40en@git.example.com/r';
  const [violation] = validateObject(edit(SYNC, '/spec/repository/url', url));
  assert.match(violation?.message ?? '', /found "ftp:\/\/\*\*\*@git.example.com\/r"$/);
});

describe('takes whatever it is given', () => {
  for (const hostile of [null, undefined, 1, 'text', [], () => {}, Object.create(null)]) {
    test(`such as ${typeof hostile} ${String(hostile === null || typeof hostile !== 'object' ? hostile : '')}`, () => {
      assert.equal(validateObject(hostile).length > 0, true);
    });
  }

  for (const kind of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    test(`such as the kind ${kind}`, () => {
      assert.match(validateObject({ ...PLUGIN, kind })[0]?.message ?? '', /^kind is /);
    });
  }

  for (const path of [
    '',
    '/metadata',
    '/metadata/labels',
    '/spec',
    '/spec/source',
    '/spec/values',
    '/spec/patches/0/merge',
  ]) {
    test(`such as a key __proto__ in ${path || 'the object itself'}`, () => {
      const violations = validateObject(edit(PLUGIN, `${path}/__proto__`, { polluted: true }));
      assert.deepEqual([...new Set(violations.map((violation) => violation.path))].includes(`${path}/__proto__`), true);
      assert.equal('polluted' in {}, false);
    });
  }

  for (const field of ['constructor', 'toString', 'valueOf']) {
    test(`such as a field ${field}, which every object seems to have`, () => {
      const paths = validateObject(edit(PLUGIN, `/spec/${field}`, 'x')).map((violation) => violation.path);
      assert.deepEqual(paths, [`/spec/${field}`]);
    });
  }

  test('such as values nested a hundred thousand levels deep', () => {
    const text = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const violations = validateObject(edit(PLUGIN, '/spec/values', JSON.parse(text)));
    assert.match(violations[0]?.message ?? '', /nested too deeply/);
  });

  test('such as texts made to keep a regular expression busy', () => {
    const started = performance.now();
    for (const text of [
      '1'.repeat(500_000),
      `1${'-a'.repeat(100_000)}!`,
      `${'a.'.repeat(100_000)}!`,
      '*,'.repeat(1e5),
    ]) {
      for (const path of ['/spec/poll', '/spec/timeout', '/spec/when/kubernetes', '/spec/drift/ignore/0/paths/0']) {
        assert.equal(validateObject(edit(PLUGIN, path, text)).length > 0, true);
      }
    }
    assert.ok(performance.now() - started < 10_000);
  });
});
