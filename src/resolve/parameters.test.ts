import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../api/index.ts';
import { describeSchemaFault, parameterSchemaFaults } from './parameter-schema.ts';
import { checkParameters, parameterDefaults } from './parameters.ts';

const SCHEMA: JsonObject = {
  type: 'object',
  required: ['host'],
  properties: {
    replicas: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
    host: { type: 'string', minLength: 3, pattern: '^[a-z.]+$' },
    mode: { type: 'string', enum: ['fast', 'safe'] },
    storage: {
      type: 'object',
      additionalProperties: false,
      properties: { class: { type: 'string', default: 'standard' }, gb: { $ref: '#/$defs/size' } },
    },
    zones: { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 2 },
    port: { anyOf: [{ type: 'integer' }, { const: 'auto' }] },
  },
  $defs: { size: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 } },
};

describe('parameters', () => {
  test('their defaults are those of the schema, also of what is inside', () => {
    assert.deepEqual(parameterDefaults(SCHEMA), { replicas: 2, storage: { class: 'standard' } });
    assert.deepEqual(parameterDefaults({ default: { a: 1 }, properties: { a: { default: 0 }, b: { default: 2 } } }), {
      a: 1,
      b: 2,
    });
    assert.deepEqual(parameterDefaults(undefined), {});
  });

  for (const [parameters, faults] of [
    [{ host: 'a.b' }, []],
    [{ host: 'a.b', replicas: null, port: 'auto', zones: ['a', 'b'], storage: { gb: 1.5 } }, []],
    [{}, ['host is missing, expected text']],
    [{ host: 'a.b', replicas: 'two' }, ['replicas is "two", expected a whole number from 1 to 9']],
    [{ host: 'a.b', replicas: 0 }, ['replicas is the number 0, expected a whole number from 1 to 9']],
    [{ host: 'a.b', replicas: 1.5 }, ['replicas is the number 1.5, expected a whole number from 1 to 9']],
    [
      { host: 'A' },
      ['host is "A", expected at least 3 characters', 'host is "A", expected text that matches ^[a-z.]+$'],
    ],
    [{ host: 'a.b', mode: 'fsat' }, ['mode is "fsat", expected one of fast, safe (did you mean fast?)']],
    [{ host: 'a.b', replica: 1 }, ['replica is not known; did you mean replicas?']],
    [{ host: 'a.b', storage: { clas: 'x' } }, ['storage.clas is not known; did you mean class?']],
    [{ host: 'a.b', storage: { gb: 0.7 } }, ['storage.gb is the number 0.7, expected a multiple of 0.5']],
    [{ host: 'a.b', storage: { gb: 0 } }, ['storage.gb is the number 0, expected more than 0']],
    [{ host: 'a.b', zones: ['a', 1] }, ['zones[1] is the number 1, expected text']],
    [{ host: 'a.b', zones: ['a', 'a'] }, ['zones is a list, expected items that differ from one another']],
    [{ host: 'a.b', port: true }, ['port is the value true, expected a whole number, or auto']],
  ] as [JsonObject, string[]][]) {
    test(`${JSON.stringify(parameters)} ${faults.length === 0 ? 'are right' : `are told: ${faults[0]}`}`, () => {
      const found = checkParameters(SCHEMA, parameters).map(({ message }) => message);
      assert.deepEqual(found, faults);
    });
  }

  test('nothing counts as missing where more values come from elsewhere', () => {
    assert.deepEqual(checkParameters(SCHEMA, {}, { moreValues: true }), []);
  });

  test('without a schema everything goes', () => {
    assert.deepEqual(checkParameters(undefined, { any: 1 }), []);
  });

  test('other names are welcome where the schema says so', () => {
    assert.deepEqual(checkParameters({ ...SCHEMA, additionalProperties: true }, { host: 'a.b', more: 1 }), []);
  });

  test('a schema that refers to itself ends', () => {
    const [fault] = checkParameters({ properties: { a: { $ref: '#/properties/a' } } }, { a: 1 });
    assert.match(fault?.message ?? '', /refers to itself too often/);
  });

  test('a name that every object has is no parameter of it', () => {
    const hostile = JSON.parse('{"host": "a.b", "__proto__": {"replicas": 1}, "constructor": 1}');
    assert.equal(checkParameters(SCHEMA, hostile).length, 2);
    assert.equal(({} as Record<string, unknown>).replicas, undefined);
  });
});

describe('a schema of parameters', () => {
  test('that can be used has no fault', () => assert.deepEqual(parameterSchemaFaults(SCHEMA), []));

  for (const [schema, message] of [
    [{ type: 'array' }, 'parameters.type must be object: parameters have names'],
    [{ properties: { a: { type: 'int' } } }, 'parameters.properties.a.type must be one of object, array, string'],
    [{ propertes: {} }, 'parameters.propertes is not a keyword that can be checked; did you mean properties?'],
    [{ properties: { a: { $ref: 'https://x.example/s.json' } } }, 'parameters.properties.a["$ref"] must stay inside'],
    [{ properties: { a: { $ref: '#/$defs/x' } } }, '#/$defs/x is not there'],
    [{ properties: { a: { pattern: '(a+)+' } } }, "parameters.properties.a.pattern can't be used: it repeats"],
    [{ properties: [] }, 'parameters.properties must be a mapping of names to schemas'],
    [{ allOf: {} }, 'parameters.allOf must be a list of schemas'],
    [{ properties: { a: 1 } }, 'must be a schema'],
    [{ properties: { a: { minimum: '1' } } }, 'must be a number'],
  ] as [JsonObject, string][]) {
    test(`${JSON.stringify(schema)} is told: ${message}`, () => {
      const [fault] = parameterSchemaFaults(schema);
      assert.ok(fault !== undefined);
      assert.ok(describeSchemaFault(fault).includes(message), describeSchemaFault(fault));
    });
  }

  test('that is nested too deep or too large is refused once', () => {
    let deep: JsonObject = {};
    for (let depth = 0; depth < 100; depth += 1) deep = { properties: { a: deep } };
    assert.equal(parameterSchemaFaults(deep).length, 1);
    const wide = { properties: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`p${at}`, {}])) };
    assert.equal(parameterSchemaFaults(wide).length, 1);
  });
});
