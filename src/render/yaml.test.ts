import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SCALARS } from '../../test/render/scalars.ts';
import { parseYaml, yamlText } from './yaml.ts';

const read = (text: string) => parseYaml(text, 'a.yaml').map((document) => document.value);

describe('YAML', () => {
  for (const [text, value] of SCALARS) {
    it(`reads ${text} as Kubernetes does`, () => assert.deepEqual(read(`a: ${text}`), [{ a: value }]));
  }

  it('comes back as it was written', () => {
    const json = fc.json().map((text) => JSON.parse(text) as unknown);
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        assert.deepEqual(read(yamlText({ value })), [JSON.parse(JSON.stringify({ value }))]);
      }),
    );
  });

  it('quotes what Go alone takes for a number', () => {
    for (const text of ['-_0', '1e3_0', '+_1', '1_e3', '0_x1', '1_000', '0777', 'y', '1:30'])
      assert.deepEqual(read(yamlText({ [text]: text })), [{ [text]: text }], text);
    assert.equal(
      yamlText({ a: [0, -1.5, true, 'web-1', '1.2.3'] }),
      'a:\n  - 0\n  - -1.5\n  - true\n  - web-1\n  - 1.2.3\n',
    );
  });

  it('is read document by document, each with its line; empty ones are left out', () => {
    const text = '# head\n---\n---\n# comment\na: 1\n---\n\n\nb: 2\n---\n# end\n';
    assert.deepEqual(parseYaml(text, 'a.yaml'), [
      { value: { a: 1 }, line: 5 },
      { value: { b: 2 }, line: 9 },
    ]);
    assert.equal(parseYaml('a: 1', 'a.yaml', 100)[0]?.line, 100);
  });

  it('has merge keys and aliases, of which nothing is shared', () => {
    const [value] = read('base: &b {x: {z: 1}}\none:\n  <<: *b\ntwo: *b\n') as [Record<string, { x: { z: number } }>];
    assert.deepEqual(value, { base: { x: { z: 1 } }, one: { x: { z: 1 } }, two: { x: { z: 1 } } });
    if (value?.two) value.two.x.z = 2;
    assert.deepEqual(value?.base, { x: { z: 1 } });
  });

  for (const [situation, text, message] of [
    ['a broken one', 'a: 1\nb: [\n', /^x\/a\.yaml:3:1: not valid YAML/],
    ['a key that is there twice', 'a: 1\nb: 2\na: 3\n', /^x\/a\.yaml:3:1: not valid YAML: .*duplicate/],
    ['__proto__', 'a:\n  __proto__: {x: 1}\n', /^x\/a\.yaml:2:3: .*"__proto__" is refused/],
    ['__proto__ by merging', 'a: &a {"__proto__": {x: 1}}\nb: {<<: *a}\n', /refused/],
    ['a map as a key', '{a: 1}: 2', /keys must be text/],
    ['a list as a key', '? [a]\n: 2', /keys must be text/],
    ['null as a key', '~: 2', /keys must be text/],
    ['an unknown tag', 'a: !!js/function "x"', /not valid YAML/],
    ['deep nesting', `a: ${'['.repeat(200_000)}`, /not valid YAML/],
    ['deep block nesting', Array.from({ length: 300 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), /not valid YAML/],
    ['an alias to what it lies in', 'a: &a [*a]', /x\/a\.yaml/],
    ['many aliases', `a: &a x\nb: [${'*a,'.repeat(2000)}]`, /not valid YAML/],
    [
      'a few lines that stand for billions',
      `a: &a [${'x,'.repeat(30)}]\n${[...'bcdefgh'].map((c, i) => `${c}: &${c} [${`*${'abcdefg'[i]},`.repeat(30)}]`).join('\n')}`,
      /stand for more than/,
    ],
  ] as const) {
    it(`refuses ${situation}, and says where`, () => {
      const started = performance.now();
      assert.throws(() => parseYaml(text, 'x/a.yaml'), { message });
      assert.ok(performance.now() - started < 10_000);
    });
  }

  it('keeps the prototype clean, and harmless keys', () => {
    const [value] = read('constructor: {prototype: {x: 1}}\ntoString: y\n');
    assert.deepEqual(value, { constructor: { prototype: { x: 1 } }, toString: true });
    assert.equal(({} as Record<string, unknown>).x, undefined);
  });

  it('takes keys that are no text for what Kubernetes takes them: `on:` is the key "true"', () => {
    assert.deepEqual(read('{on: 1, 0x10: a, 1.5: b, 2001-01-01: c}'), [
      { true: 1, 16: 'a', 1.5: 'b', '2001-01-01': 'c' },
    ]);
  });

  it('does not quote the text in its message', () => {
    assert.throws(
      () => parseYaml('a: canary\n  b: "canary\n', 'a.yaml'),
      (error: Error) => {
        return !`${error.message}${JSON.stringify(error)}${String(error.cause)}`.includes('canary');
      },
    );
  });
});
