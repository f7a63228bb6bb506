import type { JsonObject } from '../api/index.ts';
import type { Violation } from '../api/validate/violation.ts';
import { checkJson } from '../resolve/json-schema.ts';
import { schemaViolations, valueViolations } from '../resolve/template-values.ts';
import type { TextFault } from './fault.ts';
import { isMap } from './merge.ts';
import type { ParsedDeclaration } from './parse.ts';

const NAME = { type: 'string', minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' };
const NEEDS = { type: ['array', 'null'], maxItems: 100, items: { type: ['string', 'object'] } };

/** What addon.yaml may say. What a dependency may say is checked with the Plugin that comes of it. */
const ADDON: JsonObject = {
  type: 'object',
  properties: {
    name: NAME,
    namespace: {
      type: ['string', 'object', 'null'],
      if: { type: 'string' },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: NAME,
      properties: { name: NAME, create: { type: 'boolean' } },
      required: ['name'],
      additionalProperties: false,
    },
    parameters: { type: ['object', 'null'] },
    schema: { type: ['object', 'null'] },
    dependsOn: NEEDS,
    dependencies: NEEDS,
    class: { type: 'string', enum: ['system', 'default', 'accessible', 'custom'] },
  },
  additionalProperties: false,
};

/** Everything that is wrong with an addon.yaml: fields, the schema, and parameters that do not fit it. */
export function addonFaults({ value, locate }: ParsedDeclaration): TextFault[] {
  const found: Violation[] = [...checkJson(ADDON, value)];
  if (value.dependsOn !== undefined && value.dependencies !== undefined) {
    const message = 'dependencies says the same as dependsOn, which is there too: keep one of the two';
    found.push({ path: '/dependencies', message, expected: 'nothing' });
  }
  const { schema, parameters } = value;
  if (isMap(schema)) {
    found.push(...under('/schema', schemaViolations(schema)));
    // Others than addon.yaml may give what is required.
    if (isMap(parameters))
      found.push(...under('/parameters', valueViolations(schema, parameters, { isPartial: true })));
  }
  return found.map(({ path, message, expected }) => {
    const { line, column } = locate(path);
    return { line, column, path, message, expected };
  });
}

function under(pointer: string, violations: readonly Violation[]): Violation[] {
  return violations.map((one) => ({ ...one, path: `${pointer}${one.path}` }));
}
