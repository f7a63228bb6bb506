import type { JsonObject } from '../api/index.ts';
import type { Violation } from '../api/validate/violation.ts';
import { isMap } from './json-schema.ts';
import { describeSchemaFault, parameterSchemaFaults } from './parameter-schema.ts';
import { checkParameters } from './parameters.ts';

/** What is wrong with the schema of an add-on's parameters itself, for a place that calls it `schema`. */
export function schemaViolations(schema: JsonObject): Violation[] {
  return parameterSchemaFaults(schema).map((fault) => ({
    path: fault.path,
    message: describeSchemaFault(fault, 'schema'),
    expected: 'a JSON Schema',
  }));
}

/**
 * What of an add-on's values its schema does not allow; nothing where the schema itself is at fault. `shared`: values
 * that the Sync gives to all that it installs, some of which are none of this add-on's business.
 */
export function valueViolations(
  schema: JsonObject,
  values: JsonObject,
  { isPartial = false, shared = {} }: { isPartial?: boolean; shared?: JsonObject } = {},
): Violation[] {
  if (parameterSchemaFaults(schema).length > 0) return [];
  const known = isMap(schema.properties) ? schema.properties : {};
  const own = Object.entries(values).filter(([name]) => Object.hasOwn(known, name) || !Object.hasOwn(shared, name));
  const found = checkParameters(schema, Object.fromEntries(own), { moreValues: isPartial });
  return found.map((one) => ({ ...one, message: `parameter ${one.message}` }));
}
