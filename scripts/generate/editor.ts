import {
  API_VERSION,
  type Json,
  type JsonObject,
  KINDS,
  type KindDefinition,
  strictSchema,
} from '../../src/api/index.ts';

const DIALECT = 'http://json-schema.org/draft-07/schema#';

/** For the yaml-language-server: completion, texts on hover, and faults as one types. */
export function editorSchema(definition: KindDefinition, notice: string): JsonObject {
  return { $comment: notice, $schema: DIALECT, title: definition.kind, ...strictSchema(definition, true) };
}

/**
 * One schema for a whole folder of mixed YAML: each document is checked as its own kind, and what is not of our API
 * version is left alone.
 */
export function editorSchemaOfAll(notice: string): JsonObject {
  const ours: Json[] = KINDS.map((definition) => ({
    if: { properties: { kind: { const: definition.kind } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { $ref: `${definition.kind.toLowerCase()}.json` },
  }));
  return {
    $comment: notice,
    $schema: DIALECT,
    title: 'Espalier',
    type: 'object',
    if: { required: ['apiVersion', 'kind'], properties: { apiVersion: { const: API_VERSION } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { kind: { enum: KINDS.map(({ kind }) => kind) } }, allOf: ours },
  };
}
