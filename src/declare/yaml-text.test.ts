import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { valueAt } from './merge.ts';
import { parseYaml } from './yaml-text.ts';

function only(text: string) {
  const { documents, broken } = parseYaml(text);
  assert.equal(broken, undefined);
  const [document] = documents;
  assert.ok(document !== undefined && documents.length === 1);
  return document;
}

describe('YAML is read as kubectl and Helm read it', () => {
  // What `helm template` makes of each was compared; test/declare/helm-scalars.test.ts does it again.
  const cases: [text: string, value: unknown][] = [
    ['yes', true],
    ['On', true],
    ['y', true],
    ['NO', false],
    ['off', false],
    ['"yes"', 'yes'],
    ['0644', 420],
    ['0o644', 420],
    ['012', 10],
    ['08', 8],
    ['0b11', 3],
    ['0x1f', 31],
    ['1_000', 1000],
    ['+5', 5],
    ['1e3', 1000],
    ['2024-01-01', '2024-01-01'],
    ['1:30', '1:30'],
    ['~', null],
    ['1.0', 1],
    ['v1.0', 'v1.0'],
  ];
  for (const [text, value] of cases) {
    test(`${text} is ${JSON.stringify(value)}`, () => assert.deepEqual(only(`a: ${text}\n`).value, { a: value }));
  }

  test('keys are names as they are written', () => {
    assert.deepEqual(only('on: 1\n0644: 2\n1: 3\n"x y": 4\n').value, { on: 1, '0644': 2, '1': 3, 'x y': 4 });
  });

  test('JSON with tabs is YAML too', () => {
    assert.deepEqual(only('{\n\t"a": [1,\n\t\t{"b": null}]\n}\n').value, { a: [1, { b: null }] });
  });

  test('empty documents and comments are no documents', () => {
    assert.deepEqual(
      parseYaml('# nothing\n---\n---\n~\n---\na: 1\n').documents.map((one) => [one.line, one.value]),
      [[6, { a: 1 }]],
    );
  });

  test('own fields win over merged ones, and earlier merged maps over later ones', () => {
    const text = 'x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz:\n  <<: [*x, *y]\n  a: 0\n';
    assert.deepEqual(only(text).value, { x: { a: 1, b: 1 }, y: { b: 2, c: 2 }, z: { a: 0, b: 1, c: 2 } });
  });

  test('an alias stands for the last anchor of its name before it', () => {
    assert.deepEqual(only('a: &x 1\nb: *x\nc: &x 2\nd: *x\n').value, { a: 1, b: 1, c: 2, d: 2 });
  });
});

describe('what has no place in a declaration is left out and said', () => {
  const cases: [title: string, text: string, line: number, column: number, message: RegExp][] = [
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 3, 1, /the key "a" is given twice/],
    ['the key __proto__', 'a:\n  - __proto__: {x: 1}\n', 2, 5, /the key __proto__ is not allowed/],
    ['the key constructor', 'constructor: 1\n', 1, 1, /the key constructor is not allowed/],
    ['a key that is a list', '? [a]\n: 1\n', 1, 3, /a key must be plain text/],
    ['a value without JSON form', 'a: .nan\n', 1, 4, /no form in JSON/],
    ['a tag of its own', 'a: !include x\n', 1, 4, /the tag .* means nothing here/],
    ['an anchor that holds itself', 'a: &a [*a]\n', 1, 7, /nested deeper than 64 levels/],
    ['a merge of something else', 'a: &a 1\nb: {<<: *a}\n', 2, 9, /what << merges must be a map/],
    ['too many levels', `a: ${'['.repeat(70)}1${']'.repeat(70)}\n`, 1, 68, /nested deeper than 64 levels/],
  ];
  for (const [title, text, line, column, message] of cases) {
    test(title, () => {
      const { faults } = only(text);
      assert.equal(faults.length, 1);
      const [fault] = faults;
      assert.deepEqual([fault?.line, fault?.column], [line, column]);
      assert.match(fault?.message ?? '', message);
    });
  }

  test('the prototype stays clean', () => {
    const { value } = only('__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 1}}\na: 1\n');
    assert.deepEqual(value, { a: 1 });
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });
});

describe('a bomb ends soon', () => {
  const nine = (make: (name: string) => string, seed: string): string =>
    Array.from({ length: 12 }, (_, level) =>
      level === 0 ? `a0: &a0 ${seed}` : `a${level}: &a${level} ${make(`*a${level - 1}`)}`,
    ).join('\n');
  const times = (alias: string): string => Array(9).fill(alias).join(', ');
  const bombs: [title: string, text: string, message: RegExp][] = [
    ['of aliases', nine((alias) => `[${times(alias)}]`, '[x]'), /unfolds to more than 100000 values/],
    ['of merges', nine((alias) => `{<<: [${times(alias)}]}`, '{k: v}'), /unfolds to more|merges/],
  ];
  for (const [title, text, message] of bombs) {
    test(title, () => {
      const started = process.cpuUsage().user;
      const { faults } = only(text);
      assert.ok(process.cpuUsage().user - started < 2_000_000);
      assert.equal(faults.length, 1);
      assert.match(faults[0]?.message ?? '', message);
    });
  }

  test('of brackets', () => assert.match(parseYaml('['.repeat(50_000)).broken?.message ?? '', /nested too deeply/));
  test('of documents', () =>
    assert.match(parseYaml('---\na\n'.repeat(3_000)).broken?.message ?? '', /more than 2000 documents/));
});

describe('a broken text', () => {
  const cases: [title: string, text: string, line: number, column: number][] = [
    ['a tab as indentation', 'a:\n\tb: 1\n', 2, 1],
    ['a list that does not end', 'a: 1\nb: [x\nc: 2\n', 3, 1],
    ['a quote that does not end', 'a: 1\nb: "x\n', 3, 1],
    ['a conflict of a merge', 'a: 1\n<<<<<<< HEAD\nb: 1\n=======\n', 2, 1],
  ];
  for (const [title, text, line, column] of cases) {
    test(`${title} is told with its place`, () => {
      const { broken } = parseYaml(text);
      assert.match(broken?.message ?? '', /^this is not valid YAML: /);
      assert.deepEqual([broken?.line, broken?.column], [line, column]);
    });
  }

  test('keeps what could be told of it', () => {
    const { documents, broken } = parseYaml('kind: Plugin\nmetadata: {name: web}\nspec:\n  a: [1\n  b: 2\n');
    assert.ok(broken !== undefined);
    const [{ value } = { value: null }] = documents;
    assert.equal(valueAt(value, 'kind'), 'Plugin');
    assert.equal(valueAt(value, 'metadata', 'name'), 'web');
  });

  test('is not quoted: it may hold a password', () => {
    for (const text of [
      'a: "canary" canary\n',
      '"canary": 1: 2\n',
      '}canary\n',
      'a: *canary\n',
      '%canary x\n---\na\n',
      '&canary &canary x\n',
    ]) {
      const { broken, documents } = parseYaml(text);
      assert.doesNotMatch(JSON.stringify([broken, documents.map((one) => one.faults)]), /canary/, text);
    }
  });

  test('never throws, whatever it is', () => {
    const pieces = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '&x ',
      '*x',
      '<<: ',
      '|\n',
      '!t ',
      '#',
      '---\n',
      '? ',
      ',',
      '\t',
      '%',
      '@',
      '\u0000',
      '\uFEFF',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (list) => void parseYaml(list.join(''))),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseYaml(text)));
  });
});

describe('a JSON pointer is found', () => {
  const document = only(
    [
      'base: &base',
      '  shared: 1',
      'spec:',
      '  timeout: 5m',
      '  list:',
      '    - a: 1',
      '    - {b: 2}',
      '  <<: *base',
      '  "a/b~c": x',
      '',
    ].join('\n'),
  );
  const cases: [pointer: string, line: number, column: number, exact: boolean][] = [
    ['', 1, 1, true],
    ['/spec/timeout', 4, 12, true],
    ['/spec/list', 5, 3, true],
    ['/spec/list/1/b', 7, 11, true],
    ['/spec/shared', 2, 11, true],
    ['/spec/a~1b~0c', 9, 12, true],
    ['/spec/nothing/here', 3, 1, false],
    ['/spec/list/7', 5, 3, false],
  ];
  for (const [pointer, line, column, exact] of cases) {
    test(`${pointer === '' ? 'the root' : pointer} at ${line}:${column}${exact ? '' : ', the nearest that exists'}`, () => {
      assert.deepEqual(document.locate(pointer), { line, column, exact });
    });
  }
});
