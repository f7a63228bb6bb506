import assert from 'node:assert/strict';
import { it } from 'node:test';
import { schemaFaults } from './schema-faults.ts';

it('each value that a schema refuses is told with its chart and place', () => {
  const stderr = [
    "Error: INSTALLATION FAILED: values don't meet the specifications of the schema(s) in the following chart(s):",
    'web:',
    "- at '/a': got number, want string",
    "- at '/b/c d': minimum: got 1, want 3",
    'cache:',
    "- at '': additional properties 'zz' not allowed",
    '',
  ].join('\n');
  assert.deepEqual(schemaFaults(stderr), [
    { chart: 'web', pointer: '/a', message: 'got number, want string' },
    { chart: 'web', pointer: '/b/c d', message: 'minimum: got 1, want 3' },
    { chart: 'cache', pointer: '', message: "additional properties 'zz' not allowed" },
  ]);
});

it('other failures are none of the schema', () => {
  assert.equal(schemaFaults('Error: template: web/templates/a.yaml:1: bad'), undefined);
});
