import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SAMPLES } from '../../test/api/samples.ts';
import { objectSchema } from './crd.ts';
import { KINDS } from './kinds.ts';
import type { Schema } from './schema.ts';
import { textRule } from './strict.ts';
import { CHECKS } from './validate/checks.ts';

interface Place {
  path: string;
  schema: Schema;
}

/** Every schema in a schema, with the path of its field. */
function placesOf(schema: Schema, path: string): Place[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => placesOf(field, `${path}.${name}`));
  const items = schema.items === undefined ? [] : placesOf(schema.items, `${path}[]`);
  const values = schema.additionalProperties === undefined ? [] : placesOf(schema.additionalProperties, `${path}{}`);
  return [{ path, schema }, ...fields, ...items, ...values];
}

function isField({ path }: Place): boolean {
  return !path.endsWith('[]') && !path.endsWith('{}');
}

for (const definition of KINDS) {
  const places = placesOf(objectSchema(definition), definition.kind);
  const declared = placesOf(definition.spec, 'spec');

  describe(`the schema of ${definition.kind}`, () => {
    test('describes every field', () => {
      const mute = places.filter((place) => isField(place) && (place.schema.description ?? '').length < 5);
      assert.deepEqual(
        mute.map(({ path }) => path),
        [],
      );
    });

    test('ends every description with a full stop', () => {
      const open = places.filter(({ schema }) => schema.description !== undefined && !/[.)]$/.test(schema.description));
      assert.deepEqual(
        open.map(({ path }) => path),
        [],
      );
    });

    test('limits every text, list and mapping that people write, so that rules have a known cost', () => {
      const endless = declared.filter(({ schema }) => {
        if (schema.type === 'string') return schema.enum === undefined && schema.maxLength === undefined;
        if (schema.type === 'array') return schema.maxItems === undefined;
        return schema.additionalProperties !== undefined && schema.maxProperties === undefined;
      });
      assert.deepEqual(
        endless.map(({ path }) => path),
        [],
      );
    });

    test('says how every list is merged', () => {
      const vague = places.filter(({ schema }) => schema.type === 'array' && !schema['x-kubernetes-list-type']);
      assert.deepEqual(
        vague.map(({ path }) => path),
        [],
      );
    });

    test('has no rule that only the API server knows', () => {
      const rules = declared.flatMap(({ schema }) => schema['x-kubernetes-validations'] ?? []);
      const unknown = rules.filter((rule) => textRule(rule) === undefined && !CHECKS.has(rule.rule));
      assert.deepEqual(unknown, []);
    });

    test('has patterns that stand inside a CEL text as they are', () => {
      const rules = declared.flatMap(({ schema }) => schema['x-kubernetes-validations'] ?? []);
      const patterns = rules.flatMap((rule) => textRule(rule)?.pattern ?? []);
      assert.deepEqual(
        patterns.filter((pattern) => /['"\\]/.test(pattern)),
        [],
      );
    });

    test('has defaults that are among the choices', () => {
      const wrong = places.filter(({ schema }) => schema.enum !== undefined && schema.default !== undefined);
      assert.deepEqual(
        wrong.filter(({ schema }) => !schema.enum?.includes(String(schema.default))),
        [],
      );
    });

    test('is used whole by the samples of the tests', () => {
      const used = new Set(
        SAMPLES.filter(({ kind }) => kind === definition.kind).flatMap((sample) => pathsIn(sample.spec, 'spec')),
      );
      const unused = declared.filter((place) => isField(place) && !used.has(place.path));
      assert.deepEqual(
        unused.map(({ path }) => path),
        [],
      );
    });
  });
}

test('no rule in JavaScript is left over from a schema that changed', () => {
  const places = KINDS.flatMap((definition) => placesOf(definition.spec, definition.kind));
  const rules = new Set(
    places.flatMap(({ schema }) => schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule),
  );
  assert.deepEqual(
    [...CHECKS.keys()].filter((rule) => !rules.has(rule)),
    [],
  );
});

function pathsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((item) => pathsIn(item, `${path}[]`))];
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, item]) => pathsIn(item, `${path}.${name}`))];
}
