import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parameterRows } from './parameter-rows.ts';

test('parameters are told with what they allow, maps opened', () => {
  const rows = parameterRows({
    type: 'object',
    required: ['host', 'replicas'],
    properties: {
      replicas: { type: 'integer', minimum: 1, maximum: 5, default: 1, description: 'How many.' },
      host: { type: 'string', pattern: '^[a-z.]+$', minLength: 3 },
      size: { enum: ['small', 'large'] },
      'a.b': { type: ['string', 'null'] },
      storage: { type: 'object', properties: { class: { type: 'string' }, sizes: { $ref: '#/$defs/sizes' } } },
    },
    $defs: { sizes: { type: 'array', items: { type: 'integer' }, maxItems: 3 } },
  });
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['replicas', 'integer', '1', '1 to 5', 'How many.'],
      ['host', 'string', '', 'required, at least 3 characters, ^[a-z.]+$', ''],
      ['size', 'any', '', 'small | large', ''],
      ['a\\.b', 'string or null', '', '', ''],
      ['storage.class', 'string', '', '', ''],
      ['storage.sizes', 'array of integer', '', 'at most 3 items', ''],
    ],
  );
  assert.deepEqual(parameterRows(undefined), []);
});

test('a schema that leads to itself ends', () => {
  const rows = parameterRows({ properties: { a: { $ref: '#' } } });
  assert.ok(rows.length < 20);
});
