import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../api/index.ts';
import { setValue } from './set-path.ts';
import { type ValuesSource, valuesOf } from './values-from.ts';

const secret: ValuesSource = { kind: 'Secret', name: 'web' };
const parse = (text: string): JsonObject => JSON.parse(text);

function read(source: Partial<ValuesSource>, data: Record<string, string> | undefined): unknown {
  const outcome = valuesOf({ ...secret, ...source }, data, parse);
  return outcome.ok ? outcome.values : outcome.message;
}

describe('valuesFrom', () => {
  const cases: [
    title: string,
    source: Partial<ValuesSource>,
    data: Record<string, string> | undefined,
    values: unknown,
  ][] = [
    [
      'takes every key as the path of a value',
      {},
      { 'db.host': 'x', 'db.port': '5432' },
      { db: { host: 'x', port: 5432 } },
    ],
    ['puts all of it under the prefix', { prefix: 'auth' }, { user: 'u' }, { auth: { user: 'u' } }],
    ['takes a prefix with a dot at its end alike', { prefix: 'auth.' }, { user: 'u' }, { auth: { user: 'u' } }],
    ['takes a prefix with a dash as the beginning of a name', { prefix: 'db-' }, { user: 'u' }, { 'db-user': 'u' }],
    ['reads a key that ends in .yaml as a document', {}, { 'values.yaml': '{"a":{"b":1}}' }, { a: { b: 1 } }],
    ['puts a document under the prefix', { prefix: 'sub.chart' }, { 'v.yml': '{"a":1}' }, { sub: { chart: { a: 1 } } }],
    ['takes one key when it is named', { key: 'b' }, { a: '1', b: '2' }, { b: 2 }],
    [
      'merges documents and single values in name order',
      {},
      { 'a.json': '{"x":{"y":1,"z":1}}', 'x.z': '2' },
      { x: { y: 1, z: 2 } },
    ],
    ['is nothing when it is optional and absent', { optional: true }, undefined, {}],
    ['is nothing when its key is optional and absent', { optional: true, key: 'x' }, {}, {}],
  ];
  for (const [title, source, data, values] of cases) test(title, () => assert.deepEqual(read(source, data), values));

  test('says what is missing and what to do', () => {
    assert.equal(
      read({}, undefined),
      'valuesFrom needs the Secret "web", which does not exist. Create it, or set optional: true.',
    );
    assert.match(String(read({ key: 'x' }, {})), /needs the key "x" of the Secret "web", which has no such key/);
    assert.match(String(read({ key: 'toString' }, {})), /no such key/);
  });

  test('never says what the secret holds', () => {
    for (const [key, text] of [
      ['v.yaml', 'canary-5d: ['],
      ['a..b', 'canary-5d'],
      ['__proto__', 'canary-5d'],
    ] as const) {
      const outcome = valuesOf(secret, { [key]: text }, parse);
      assert.ok(!outcome.ok);
      assert.doesNotMatch(outcome.message, /canary/);
      assert.match(outcome.message, new RegExp(`key "${key}" of the Secret "web"`));
    }
  });

  test('keys that reach for the prototype are refused, at any depth', () => {
    for (const path of ['__proto__.polluted', 'a.constructor.prototype.x', 'a[0].__proto__']) {
      assert.equal(setValue({}, path, 'yes').ok, false, path);
    }
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });
});

describe('a --set path', () => {
  const cases: [path: string, text: string, values: unknown][] = [
    ['a.b.c', 'x', { a: { b: { c: 'x' } } }],
    ['a[1].b', 'x', { a: [null, { b: 'x' }] }],
    ['a[0][1]', 'x', { a: [[null, 'x']] }],
    ['a\\.b.c', 'x', { 'a.b': { c: 'x' } }],
    ['a', 'TRUE', { a: true }],
    ['a', 'false', { a: false }],
    ['a', 'null', { a: null }],
    ['a', '0', { a: 0 }],
    ['a', '-12', { a: -12 }],
    ['a', '012345', { a: '012345' }],
    ['a', '1.5', { a: '1.5' }],
    ['a', '12345678901234567890', { a: '12345678901234567890' }],
    ['a', 'p,w={x}', { a: 'p,w={x}' }],
    ['a', '', { a: '' }],
  ];
  for (const [path, text, values] of cases) {
    test(`${path} = ${JSON.stringify(text)} gives ${JSON.stringify(values)}`, () => {
      assert.deepEqual(setValue({}, path, text), { ok: true, values });
    });
  }

  test('keeps what is beside it', () => {
    const outcome = setValue({ a: { x: 1 }, l: [1, 2] }, 'l[1]', '3');
    assert.deepEqual(outcome, { ok: true, values: { a: { x: 1 }, l: [1, 3] } });
  });

  for (const path of ['', '.a', 'a.', 'a..b', '[0]', 'a[', 'a[x]', 'a]b', 'a[99999]', Array(40).fill('a').join('.')]) {
    test(`${JSON.stringify(path.slice(0, 12))} is refused`, () => assert.equal(setValue({}, path, 'x').ok, false));
  }
});
