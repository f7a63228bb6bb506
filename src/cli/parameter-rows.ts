import type { Json, JsonObject } from '../api/objects.ts';

export interface ParameterRow {
  /** As `--set` takes it: `storage.size`. */
  name: string;
  type: string;
  /** JSON; empty where there is none. */
  default: string;
  /** `1 to 5`, `small | large`, `required`. */
  allowed: string;
  description: string;
}

const DEEPEST = 8;

/** The parameters of an extension as a table, maps opened, in the order of the schema. */
export function parameterRows(schema: JsonObject | undefined): ParameterRow[] {
  return schema === undefined ? [] : rowsOf(schema, schema, '', 0);
}

function rowsOf(root: JsonObject, schema: JsonObject, above: string, depth: number): ParameterRow[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asMap(schema.properties)).flatMap(([key, value]) => {
    const inner = follow(root, asMap(value));
    const name = `${above}${key.replaceAll(/[.[\]\\]/g, '\\$&')}`;
    const isOpen = Object.keys(asMap(inner.properties)).length > 0 && depth < DEEPEST;
    const below = isOpen ? rowsOf(root, inner, `${name}.`, depth + 1) : [];
    // A map that only holds others says nothing by itself.
    if (below.length > 0 && inner.description === undefined && inner.default === undefined) return below;
    return [rowOf(root, name, inner, required.includes(key)), ...below];
  });
}

function rowOf(root: JsonObject, name: string, schema: JsonObject, isRequired: boolean): ParameterRow {
  const { default: preset, description, title } = schema;
  return {
    name,
    type: typeOf(root, schema),
    default: preset === undefined ? '' : JSON.stringify(preset),
    allowed: [...(isRequired && preset === undefined ? ['required'] : []), ...allowedIn(schema)].join(', '),
    description: String(description ?? title ?? ''),
  };
}

function typeOf(root: JsonObject, schema: JsonObject): string {
  const { type, items } = schema;
  const named = Array.isArray(type) ? type.join(' or ') : typeof type === 'string' ? type : 'any';
  if (named !== 'array' || items === undefined) return named;
  return `array of ${typeOf(root, follow(root, asMap(items)))}`;
}

function allowedIn(schema: JsonObject): string[] {
  const { enum: values, const: only, pattern, format } = schema;
  const found: string[] = [];
  if (Array.isArray(values)) found.push(values.map(shown).join(' | '));
  if (only !== undefined) found.push(shown(only));
  found.push(...between(schema, 'minimum', 'maximum', ''));
  if (schema.exclusiveMinimum !== undefined) found.push(`above ${shown(schema.exclusiveMinimum)}`);
  if (schema.exclusiveMaximum !== undefined) found.push(`below ${shown(schema.exclusiveMaximum)}`);
  if (schema.multipleOf !== undefined) found.push(`multiples of ${shown(schema.multipleOf)}`);
  found.push(...between(schema, 'minLength', 'maxLength', ' characters'));
  found.push(...between(schema, 'minItems', 'maxItems', ' items'));
  if (typeof pattern === 'string') found.push(pattern);
  if (typeof format === 'string') found.push(format);
  return found;
}

function between(schema: JsonObject, low: string, high: string, unit: string): string[] {
  const [least, most] = [schema[low], schema[high]];
  if (least !== undefined && most !== undefined) return [`${shown(least)} to ${shown(most)}${unit}`];
  if (least !== undefined) return [`at least ${shown(least)}${unit}`];
  return most === undefined ? [] : [`at most ${shown(most)}${unit}`];
}

function shown(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function asMap(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** What a `$ref` inside the schema names; anything else stays as it is. */
function follow(root: JsonObject, schema: JsonObject): JsonObject {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema;
  const names = $ref
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return { ...names.reduce<JsonObject>((inner, name) => asMap(inner[name]), root), ...schema };
}
