import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { inputsOf } from './inputs.ts';

const object = (spec: unknown): KubeObject => ({ apiVersion: 'v1', kind: 'Plugin', metadata: { name: 'a' }, spec });

test('inputs are equal when only the order of fields differs', () => {
  assert.equal(inputsOf(object({ a: 1, b: { c: 2, d: 3 } })), inputsOf(object({ b: { d: 3, c: 2 }, a: 1 })));
});

test('inputs differ when a value, a list order or a tree differs', () => {
  const all = [{ a: 1 }, { a: '1' }, { a: [1, 2] }, { a: [2, 1] }, { a: null }, {}].map((spec) =>
    inputsOf(object(spec)),
  );
  assert.equal(new Set(all).size, all.length);
});
