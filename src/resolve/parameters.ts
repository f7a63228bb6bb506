import type { Json, JsonObject } from '../api/index.ts';
import { child } from '../api/validate/describe.ts';
import type { Violation } from '../api/validate/violation.ts';
import { checkJson, isMap, unknownField } from './json-schema.ts';
import { mergeValues } from './values.ts';

const DEEPEST = 32;

/** What a schema gives where nothing is said: the layer of values that an Extension adds. */
export function parameterDefaults(schema: JsonObject | undefined): JsonObject {
  const made = schema === undefined ? undefined : defaultOf(schema, 0);
  return isMap(made) ? made : {};
}

function defaultOf(schema: Json | undefined, depth: number): Json | undefined {
  if (!isMap(schema) || depth > DEEPEST) return undefined;
  const { default: own, properties } = schema;
  if (!isMap(properties) || (own !== undefined && !isMap(own))) return own;
  const fields = Object.entries(properties).flatMap(([name, inner]): [string, Json][] => {
    const made = defaultOf(inner, depth + 1);
    return made === undefined ? [] : [[name, made]];
  });
  if (own === undefined && fields.length === 0) return undefined;
  return mergeValues(Object.fromEntries(fields), own ?? {});
}

/**
 * What of an instance's parameters its extension does not allow, by the name of the parameter. At the top a name that
 * the schema does not have is a slip of the pen, unless it says that others are welcome. Values from elsewhere (Secrets
 * and ConfigMaps) are not known here: where there are some, nothing counts as missing.
 */
export function checkParameters(
  schema: JsonObject | undefined,
  parameters: JsonObject,
  { moreValues = false }: { moreValues?: boolean } = {},
): Violation[] {
  if (schema === undefined) return [];
  // A null takes a default away; what it leaves is the chart's business.
  const given = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null));
  const found = checkJson(schema, mergeValues(parameterDefaults(schema), given), { isPartial: moreValues });
  const isOpen = !isMap(schema.properties) || schema.additionalProperties !== undefined;
  const known = isMap(schema.properties) ? Object.keys(schema.properties) : [];
  const unknown = isOpen ? [] : Object.keys(parameters).filter((name) => !known.includes(name));
  return [...unknown.map((name) => unknownField(child('', name), name, known)), ...found];
}
