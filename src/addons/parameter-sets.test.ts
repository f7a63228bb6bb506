import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../api/index.ts';
import { valueViolations } from '../resolve/template-values.ts';
import { parameterSets } from './parameter-sets.ts';

test('sets are the defaults, all changed at once, then switches and lists one by one, and a large number', () => {
  const sets = parameterSets({ on: true, n: 1, list: ['a'], name: 'x' }, undefined);
  assert.deepEqual(
    sets.map(({ title }) => title),
    [
      'the defaults',
      'every parameter changed',
      'on: false',
      'list: []',
      'list: ["a","ax"]',
      'n: 12345678',
      'n: 2',
      'name: "xx"',
      'name: "other"',
      'name: "10.1.2.3"',
    ],
  );
  assert.deepEqual(sets[1]?.values, { on: false, n: 12345678, list: [], name: 'xx' });
});

test('a list is tried with one more that is none of the others, as what has a name of its own wants it', () => {
  const sets = parameterSets({ outputs: [{ name: 'es', port: 9200, tls: { on: true } }] }, undefined);
  assert.deepEqual(sets[2]?.values.outputs, [
    { name: 'es', port: 9200, tls: { on: true } },
    { name: 'esx', port: 12345678, tls: { on: true } },
  ]);
});

test('what the schema says nothing of is a guess, and a long value is not spelt out', () => {
  const schema = { properties: { mode: { enum: ['a', 'b'] } }, additionalProperties: true };
  const sets = parameterSets({ mode: 'a', text: 'long '.repeat(100) }, schema);
  const told = sets.map(({ title, isGuess }) => `${title.length > 100 ? 'too long' : title.slice(0, 12)} ${isGuess}`);
  assert.deepEqual(told.slice(0, 4), [
    'the defaults false',
    'every parame true',
    'mode: "b" false',
    'text: "long  true',
  ]);
});

test('every set fits the schema, and what is required has a value', () => {
  const schema: JsonObject = {
    properties: {
      size: { type: 'string', enum: ['small', 'large'] },
      ip: { type: 'string', pattern: '^[0-9.]+$' },
      n: { type: 'integer', minimum: 2, maximum: 5 },
      deep: { type: 'object', properties: { on: { type: 'boolean' } } },
    },
    required: ['ip', 'size'],
  };
  const sets = parameterSets({ n: 3 }, schema);
  assert.ok(sets.length >= 6, JSON.stringify(sets));
  for (const { values } of sets) assert.deepEqual(valueViolations(schema, values), []);
  assert.deepEqual(sets[0]?.values, { ip: '10.1.2.3', size: 'small', n: 3 });
  assert.ok(sets.some(({ values }) => values.n === 5) && sets.some(({ values }) => values.size === 'large'));
});

test('without a value that fits what is required there is no set', () => {
  const schema: JsonObject = { properties: { id: { type: 'string', pattern: '^Z[0-9]{9}$' } }, required: ['id'] };
  assert.deepEqual(parameterSets({}, schema), []);
});
