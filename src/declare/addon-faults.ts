import type { Json, JsonObject } from '../api/index.ts';
import type { Violation } from '../api/validate/violation.ts';
import { checkJson } from '../resolve/json-schema.ts';
import { schemaViolations, valueViolations } from '../resolve/template-values.ts';
import type { Place, TextFault } from './fault.ts';
import { isMap } from './merge.ts';
import type { ParsedDeclaration } from './parse.ts';
import type { LocatedPlace } from './yaml-text.ts';

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
  const broken: Violation[] = [];
  const unfit: Violation[] = [];
  if (isMap(schema)) {
    broken.push(...schemaViolations(schema).map((one) => ({ ...one, path: `/schema${one.path}` })));
    // Others than addon.yaml may give what is required. Defaults of the schema are looked at too.
    if (isMap(parameters) || !given(parameters))
      unfit.push(...valueViolations(schema, isMap(parameters) ? parameters : {}, { isPartial: true }));
  }
  const placed = ({ path, message, expected }: Violation, { line, column }: Place) => ({
    ...{ line, column },
    ...{ path, message, expected },
  });
  return [
    ...[...found, ...broken].map((one) => placed(one, locate(one.path))),
    ...unfit.map((one) =>
      placed({ ...one, path: `/parameters${one.path}` }, firstOf(locate, parameterPlaces(one.path))),
    ),
  ];
}

/** Where addon.yaml may say what a parameter is where nothing else is said, the likeliest first. */
export function parameterPlaces(pointer: string): string[] {
  const inSchema = pointer.replaceAll('/', '/properties/');
  return [`/parameters${pointer}`, `/schema${inSchema}/default`, '/parameters'];
}

/** The first of some pointers that is there, or else what is nearest to the first. */
export function firstOf(locate: ParsedDeclaration['locate'], pointers: readonly string[]): LocatedPlace {
  const places = pointers.map((one) => locate(one));
  return places.find(({ exact }) => exact) ?? places[0] ?? { ...locate(''), exact: false };
}

export function given(value: Json | undefined): value is Json {
  return value !== undefined && value !== null;
}
