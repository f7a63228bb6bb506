import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './canonical.ts';

test('the order in which fields are written does not count', () => {
  assert.equal(canonicalJson({ b: 1, a: { d: [1, 2], c: null } }), '{"a":{"c":null,"d":[1,2]},"b":1}');
});

test('names are sorted as text, numbers among them, and whatever they are called', () => {
  const names = ['b', '10', '9', '__proto__', 'constructor', '\u{1f333}', '\uffe6', ''];
  const value: unknown = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:{}`).join(',')}}`);
  const sorted = names.toSorted().map((name) => `${JSON.stringify(name)}:{}`);
  assert.equal(canonicalJson(value), `{${sorted.join(',')}}`);
});

test('an undefined field counts as absent, and an undefined item as null', () => {
  assert.equal(canonicalJson({ a: undefined, b: [undefined] }), '{"b":[null]}');
});

test('what JSON cannot hold has no key', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol('x')]) {
    assert.throws(() => canonicalJson({ value }), TypeError);
  }
});

test('any JSON comes back from its canonical text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
    }),
  );
});
