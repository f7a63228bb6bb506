import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../api/index.ts';
import { chartValues, mergeValues, templateValues } from './values.ts';

const values = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', '__proto__'),
  fc.jsonValue({ maxDepth: 3 }),
) as fc.Arbitrary<JsonObject>;

describe('values', () => {
  test('the plugin wins over valuesFrom, a later entry over an earlier one, and all over the Sync', () => {
    const layers = {
      defaults: { a: 0, e: 0 },
      global: { a: 1, b: 1, c: 1, d: 1 },
      from: [
        { b: 2, c: 2, d: 2 },
        { c: 3, d: 3 },
      ],
      values: { d: 4 },
    };
    assert.deepEqual(templateValues(layers), { a: 1, b: 2, c: 3, d: 4, e: 0 });
    assert.deepEqual(chartValues(layers), { a: 0, b: 2, c: 3, d: 4, e: 0, global: { a: 1, b: 1, c: 1, d: 1 } });
  });

  test('a plugin may set single global values of its chart', () => {
    const merged = chartValues({ global: { registry: 'x', zone: 'eu' }, values: { global: { zone: 'us' } } });
    assert.deepEqual(merged, { global: { registry: 'x', zone: 'us' } });
  });

  test('a Sync without values adds no global', () => {
    assert.deepEqual(chartValues({ global: {}, values: { a: 1 } }), { a: 1 });
  });

  test('maps merge, lists are replaced', () => {
    const merged = mergeValues({ m: { a: 1, b: [1, 2] }, l: [1] }, { m: { b: [3] }, l: [] });
    assert.deepEqual(merged, { m: { a: 1, b: [3] }, l: [] });
  });

  test('a null reaches a chart, which drops its default, and deletes in a template', () => {
    const layers = { from: [{ probe: { path: '/', port: 80 } }], values: { probe: { port: null }, tls: null } };
    assert.deepEqual(chartValues(layers), { probe: { path: '/', port: null }, tls: null });
    assert.deepEqual(templateValues(layers), { probe: { path: '/' } });
  });

  test('merging changes neither side and never the prototype', () => {
    fc.assert(
      fc.property(values, values, (base, over) => {
        const before = JSON.stringify([base, over]);
        const merged = mergeValues(base, over);
        assert.equal(JSON.stringify([base, over]), before);
        assert.deepEqual(mergeValues(merged, over), merged);
        for (const key of Object.keys(over)) assert.ok(Object.hasOwn(merged, key));
        assert.equal(Object.getPrototypeOf(merged), Object.prototype);
      }),
    );
    assert.equal(Object.hasOwn(Object.prototype, 'a'), false);
  });

  test('an empty layer changes nothing', () => {
    fc.assert(
      fc.property(values, (one) => {
        assert.equal(JSON.stringify(mergeValues(one, {})), JSON.stringify(one));
        assert.equal(JSON.stringify(mergeValues({}, one)), JSON.stringify(one));
      }),
    );
  });
});
