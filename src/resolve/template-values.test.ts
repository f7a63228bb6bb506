import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaViolations, valueViolations } from './template-values.ts';

const SCHEMA = { properties: { ip: { type: 'string' }, port: { type: 'integer', default: 80 } }, required: ['ip'] };

test('values of an add-on are told by the name of the parameter', () => {
  const found = valueViolations(SCHEMA, { port: 'x', prot: 1 });
  assert.deepEqual(
    found.map(({ path, message }) => `${path}: ${message}`),
    [
      '/prot: parameter prot is not known; did you mean port?',
      '/port: parameter port is "x", expected a whole number',
      ': parameter ip is missing, expected text',
    ],
  );
});

test('what the Sync gives to all is only checked where the schema knows it', () => {
  assert.deepEqual(valueViolations(SCHEMA, { ip: 'a', zone: 'eu' }, { shared: { zone: 'eu' } }), []);
  assert.equal(valueViolations(SCHEMA, { ip: 'a', port: 'x' }, { shared: { port: 'x' } }).length, 1);
});

test('of a part of the values nothing is missing', () => {
  assert.deepEqual(valueViolations(SCHEMA, {}, { isPartial: true }), []);
});

test('a schema that is itself at fault refuses no values, and is told', () => {
  const broken = { properties: { ip: { type: 'text' } } };
  assert.deepEqual(valueViolations(broken, { ip: 1 }), []);
  assert.match(schemaViolations(broken)[0]?.message ?? '', /^schema\.properties\.ip\.type must be one of /);
});
