import type { KindDefinition } from './kinds.ts';
import { API_VERSION } from './names.ts';
import type { JsonObject } from './objects.ts';
import type { Rule, Schema } from './schema.ts';

/** `self.matches('…')`, the one form of rule that JSON Schema can say too. */
const MATCHES = /^(!?)self\.matches\('([^']*)'\)$/;

export interface TextRule {
  pattern: string;
  /** True when the text must not match. */
  negated: boolean;
}

export function textRule(rule: Rule): TextRule | undefined {
  const match = MATCHES.exec(rule.rule);
  return match?.[2] === undefined ? undefined : { pattern: match[2], negated: match[1] === '!' };
}

/** Labels and annotations are text; everything else in metadata is for programs, and the API server checks it. */
const METADATA = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  description: 'Name, namespace, labels and annotations.',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 63, description: 'Name of the object.' },
    namespace: { type: 'string', minLength: 1, maxLength: 63, description: 'Namespace of the object.' },
    labels: { type: 'object', additionalProperties: { type: 'string' }, description: 'Labels.' },
    annotations: { type: 'object', additionalProperties: { type: 'string' }, description: 'Annotations.' },
    generateName: { type: 'string', description: 'Not used in declarations.' },
    finalizers: { type: 'array', items: { type: 'string' }, description: 'Not used in declarations.' },
    ownerReferences: { type: 'array', items: { type: 'object' }, description: 'Not used in declarations.' },
    ...Object.fromEntries(
      ['uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'selfLink'].map((name) => [
        name,
        { description: 'Written by the API server.' },
      ]),
    ),
    generation: { description: 'Written by the API server.' },
    managedFields: { description: 'Written by the API server.' },
  },
} satisfies JsonObject;

/**
 * The JSON Schema of a declaration, which refuses unknown fields: what CustomResourceDefinitions cannot say. Status is
 * anybody's: the API server drops it from a declaration. With `syntax` it says as JSON Schema what rules say about
 * texts, for editors; without, it checks types, names and limits alone and carries the rules along for messages.
 */
export function strictSchema(definition: KindDefinition, syntax: boolean): JsonObject {
  return {
    type: 'object',
    description: definition.description,
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    additionalProperties: false,
    properties: {
      apiVersion: { const: definition.apiVersion ?? API_VERSION, description: 'API version of this kind.' },
      kind: { const: definition.kind, description: definition.description },
      metadata: METADATA,
      spec: strict(definition.spec, syntax),
      status: { description: 'Written by the agent; ignored in declarations.' },
    },
  };
}

function strict(schema: Schema, syntax: boolean): JsonObject {
  const result: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (!syntax || !keyword.startsWith('x-')) result[keyword] = structuredClone(value);
  }
  if (syntax) Object.assign(result, syntaxOf(schema));
  if (schema.items !== undefined) result.items = strict(schema.items, syntax);
  if (schema.additionalProperties !== undefined) {
    result.additionalProperties = strict(schema.additionalProperties, syntax);
  }
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [name, strict(field, syntax)] as const);
    result.properties = Object.fromEntries(fields);
    result.additionalProperties = false;
  }
  return result;
}

function syntaxOf(schema: Schema): JsonObject {
  const result: JsonObject = {};
  if (schema['x-kubernetes-list-type'] === 'set') result.uniqueItems = true;
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    const text = textRule(rule);
    if (text === undefined) continue;
    if (text.negated) result.not = { pattern: text.pattern };
    else Object.assign(result, { pattern: text.pattern, patternErrorMessage: rule.message });
  }
  return result;
}
