import type { KindDefinition } from './kinds.ts';
import { API_VERSION, GROUP } from './names.ts';
import { groupOf, versionOf } from './objects.ts';
import type { Schema } from './schema.ts';
import { type ServedSchema, served } from './served-schema.ts';

/** The whole object as it is described to people. */
export function objectSchema(definition: KindDefinition): Schema {
  return {
    type: 'object',
    description: definition.description,
    required: ['spec'],
    properties: { spec: definition.spec, status: definition.status },
  };
}

/** Names end up in the value of the label espalier.dev/plugin, which holds 63 characters. */
const METADATA: ServedSchema = { type: 'object', properties: { name: { type: 'string', maxLength: 63 } } };

/** The CustomResourceDefinition that serves a kind. */
export function customResourceDefinition(definition: KindDefinition) {
  const { kind, plural, shortNames, scope, columns, apiVersion = API_VERSION } = definition;
  const group = groupOf(apiVersion);
  const shown = columns.map(({ jsonPath }) => jsonPath);
  const { properties, ...schema } = served(objectSchema(definition), shown);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames,
        ...(group === GROUP ? { categories: ['espalier'] } : {}),
      },
      versions: [
        {
          name: versionOf(apiVersion),
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: { ...schema, properties: { metadata: METADATA, ...properties } } },
        },
      ],
    },
  };
}
