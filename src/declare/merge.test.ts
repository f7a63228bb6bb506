import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isError, type Json, type JsonObject } from '../api/index.ts';
import { mergePatch, valueAt } from './merge.ts';

const names = fc.constantFrom('a', 'b', 'c', 'toString', 'valueOf');
const scalar = fc.constantFrom<Json>(null, 1, 'x', true);
const list = fc.array(fc.integer(), { maxLength: 2 });
const nested = (inner: fc.Arbitrary<Json>) => fc.dictionary(names, inner, { noNullPrototype: true });
const values = nested(fc.oneof(scalar, list, nested(fc.oneof(scalar, list, nested(scalar)))));

describe('RFC 7396', () => {
  // The table of appendix A, as far as both sides are objects.
  const cases: [target: JsonObject, patch: JsonObject, result: JsonObject][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) {
    test(`${JSON.stringify(patch)} over ${JSON.stringify(target)} gives ${JSON.stringify(result)}`, () => {
      assert.deepEqual(mergePatch(target, patch), result);
    });
  }

  test('a patch that was applied changes nothing when it is applied again', () => {
    fc.assert(
      fc.property(values, values, (target, patch) => {
        const once = mergePatch(target, patch);
        assert.deepEqual(mergePatch(once, patch), once);
      }),
    );
  });

  test('what the patch does not name stays, and what it nulls is gone', () => {
    fc.assert(
      fc.property(values, values, (target, patch) => {
        const merged = mergePatch(target, patch);
        for (const [name, value] of Object.entries(target)) {
          if (!Object.hasOwn(patch, name)) assert.deepEqual(merged[name], value);
        }
        for (const [name, value] of Object.entries(patch)) {
          if (value === null) assert.equal(Object.hasOwn(merged, name), false);
        }
      }),
    );
  });

  test('neither side is changed, and the result shares nothing with them', () => {
    fc.assert(
      fc.property(values, values, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const merged = mergePatch(target, patch);
        for (const value of Object.values(merged)) if (Array.isArray(value)) value.push('changed');
        assert.equal(JSON.stringify([target, patch]), before);
      }),
    );
  });
});

for (const key of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty']) {
  test(`a patch with the key ${key} is refused at any depth and leaves the prototype clean`, () => {
    const hostile: JsonObject = JSON.parse(`{"a": [{"${key}": {"polluted": true}}], "b": 1}`);
    for (const [target, patch] of [
      [{}, hostile],
      [hostile, {}],
    ] as const) {
      assert.throws(
        () => mergePatch(target, patch),
        (error) => isError(error, 'InvalidDeclaration'),
      );
    }
    assert.equal(({} as JsonObject).polluted, undefined);
  });
}

test('a value at a path is never one that the prototype lends', () => {
  assert.equal(valueAt({ a: { b: 1 } }, 'a', 'b'), 1);
  assert.equal(valueAt({ a: {} }, 'a', 'toString'), undefined);
  assert.equal(valueAt({ a: [1] }, 'a', 'length'), undefined);
  assert.equal(valueAt(null, 'a'), undefined);
});
