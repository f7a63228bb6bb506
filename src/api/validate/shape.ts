import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { KindDefinition } from '../kinds.ts';
import type { Schema } from '../schema.ts';
import { strictSchema } from '../strict.ts';
import { isFields } from './checks.ts';
import { child, describeExpected, describeFound, dotted, oneOf, quote } from './describe.ts';
import { brokenTextRule } from './rules.ts';
import { suggest } from './suggest.ts';
import type { Violation } from './violation.ts';

const compiled = new Map<KindDefinition, ValidateFunction>();

/** Loading ajv costs more than most commands take, so it is loaded and run only for kinds that are validated. */
function validatorFor(definition: KindDefinition): ValidateFunction {
  const known = compiled.get(definition);
  if (known !== undefined) return known;
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv');
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, ownProperties: true, validateFormats: false });
  const validate = ajv.compile(strictSchema(definition, false));
  compiled.set(definition, validate);
  return validate;
}

/** Wrong types, unknown and missing fields, values out of bounds: everything that needs no rule of ours. */
export function checkShape(definition: KindDefinition, object: unknown): Violation[] {
  const validate = validatorFor(definition);
  if (validate(object)) return [];
  const errors = (validate.errors ?? []).filter((error) => error.params.additionalProperty !== '__proto__');
  // What has the wrong type breaks every other rule too; once is enough to say so.
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return errors
    .filter(({ keyword, instancePath }) => keyword === 'type' || !mistyped.has(instancePath))
    .map(violationOf);
}

function violationOf(error: ErrorObject): Violation {
  const { instancePath, data, params } = error;
  const schema = error.parentSchema as Schema;
  const where = instancePath === '' ? 'the object' : dotted(instancePath);
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(instancePath, String(params.additionalProperty), Object.keys(schema.properties ?? {}));
    case 'required':
      return missingField(instancePath, String(params.missingProperty), schema);
    case 'enum':
      return notOneOf(instancePath, data, schema.enum ?? []);
    case 'const':
      return notOneOf(instancePath, data, [String(params.allowedValue)]);
    case 'minLength':
    case 'minItems':
      return { path: instancePath, message: `${where} must not be empty`, expected: describeExpected(schema) };
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties': {
      const unit = error.keyword === 'maxLength' ? 'characters' : 'entries';
      const expected = `at most ${params.limit} ${unit}`;
      return { path: instancePath, message: `${where} is too long, expected ${expected}`, expected };
    }
    default:
      return wrongValue(instancePath, data, schema);
  }
}

function wrongValue(path: string, data: unknown, schema: Schema): Violation {
  const expected = describeExpected(schema);
  const unquoted = schema.type === 'string' && (typeof data === 'number' || typeof data === 'boolean');
  const helps = unquoted && brokenTextRule(schema, String(data)) === undefined;
  const hint = helps ? ` (put it in quotes: ${quote(String(data))})` : '';
  return { path, message: `${dotted(path)} is ${describeFound(data)}, expected ${expected}${hint}`, expected };
}

function notOneOf(path: string, data: unknown, values: readonly string[]): Violation {
  const expected = oneOf(values);
  const meant = typeof data === 'string' ? suggest(data, values) : undefined;
  const hint = meant === undefined || values.length === 1 ? '' : ` (did you mean ${meant}?)`;
  return { path, message: `${dotted(path)} is ${describeFound(data)}, expected ${expected}${hint}`, expected };
}

function unknownField(path: string, field: string, known: string[]): Violation {
  const meant = suggest(field, known);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  const place = child(path, field);
  return { path: place, message: `${dotted(place)} is not a field${hint}`, expected: oneOf(known) };
}

function missingField(path: string, field: string, schema: Schema): Violation {
  const missing = schema.properties?.[field];
  const expected = isFields(missing) ? describeExpected(missing as Schema) : field;
  const name = dotted(child(path, field));
  return { path, message: `${name} is missing, expected ${expected}`, expected: `${field}: ${expected}` };
}
