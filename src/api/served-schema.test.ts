import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schema } from './schema.ts';
import { served } from './served-schema.ts';

const TEXT: Schema = { type: 'string', maxLength: 10 };

test('rules of one value become one that reads a shared field once, and tells which of them is broken', () => {
  const schema: Schema = {
    type: 'object',
    required: ['kind'],
    properties: { kind: TEXT, a: TEXT, b: TEXT },
    'x-kubernetes-validations': [
      { rule: "self.kind == 'x' || !has(self.a)", message: 'a is for "x" only', fieldPath: '.a' },
      { rule: "self.kind == 'y' || !has(self.b)", message: 'b is for y only' },
    ],
  };
  assert.deepEqual(served(schema)['x-kubernetes-validations'], [
    {
      rule: "[self.kind].all(kind, (kind == 'x' || !has(self.a)) && (kind == 'y' || !has(self.b)))",
      messageExpression: `!(self.kind == 'y' || !has(self.b)) ? "b is for y only" : "a is for \\"x\\" only"`,
      message: 'a is for "x" only; b is for y only',
    },
  ]);
});

test('a field that may be absent is read where it is asked for', () => {
  const schema: Schema = {
    type: 'object',
    properties: { a: TEXT, b: TEXT },
    'x-kubernetes-validations': [
      { rule: 'has(self.a) || has(self.b)', message: 'one' },
      { rule: '!has(self.a) || !has(self.b)', message: 'not both' },
    ],
  };
  const [rule] = served(schema)['x-kubernetes-validations'] ?? [];
  assert.equal(rule?.rule, '(has(self.a) || has(self.b)) && (!has(self.a) || !has(self.b))');
});

test('one rule stays as it is', () => {
  const rules = [{ rule: "self.matches('^a')", message: 'must begin with a' }];
  const text: Schema = { ...TEXT, 'x-kubernetes-validations': rules };
  assert.deepEqual(served(text), text);
});

test('defaults are left to who reads, but for those that kubectl get shows', () => {
  const mode: Schema = { ...TEXT, default: 'repair' };
  const drift: Schema = { type: 'object', default: {}, properties: { mode } };
  const spec: Schema = { type: 'object', properties: { drift, class: mode } };
  assert.deepEqual(
    served({ type: 'object', properties: { spec } }, ['.spec.class', '.metadata.name']).properties?.spec,
    {
      type: 'object',
      properties: { drift: { type: 'object', properties: { mode: TEXT } }, class: mode },
    },
  );
});

test('lists of a status are stored unchecked, and tell what is in them; conditions and what people write are checked', () => {
  const entry: Schema = { type: 'object', properties: { name: TEXT, uid: TEXT } };
  const list: Schema = { type: 'array', 'x-kubernetes-list-type': 'atomic', description: 'The objects.', items: entry };
  const conditions: Schema = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const { properties } = served({
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { list } },
      status: { type: 'object', properties: { list, conditions } },
    },
  });
  assert.deepEqual(properties?.spec?.properties?.list, list);
  assert.deepEqual(properties?.status?.properties?.conditions, conditions);
  assert.deepEqual(properties?.status?.properties?.list, {
    ...list,
    description: 'The objects. Each has: name, uid.',
    items: { 'x-kubernetes-preserve-unknown-fields': true },
  });
});

test('a status that is one piece is told field by field, and stored unchecked', () => {
  const list: Schema = {
    type: 'array',
    description: 'The objects.',
    items: { type: 'object', properties: { uid: TEXT } },
  };
  const last: Schema = { type: 'object', description: 'The last.', properties: { at: TEXT, by: TEXT } };
  const phase: Schema = { ...TEXT, description: 'Where it stands.' };
  const status: Schema = {
    type: 'object',
    description: 'What was found.',
    'x-kubernetes-map-type': 'atomic',
    properties: { phase, list, last },
  };
  assert.deepEqual(served({ type: 'object', properties: { status } }).properties?.status, {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-map-type': 'atomic',
    description:
      'What was found.\n- phase: Where it stands.\n- list: The objects. Each has: uid.\n- last: The last. Fields: at, by.',
  });
});
