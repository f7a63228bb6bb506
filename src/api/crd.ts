import type { KindDefinition } from './kinds.ts';
import { API_VERSION, GROUP } from './names.ts';
import { groupOf, versionOf } from './objects.ts';
import type { Rule, Schema } from './schema.ts';

/** Names end up in the value of the label espalier.dev/plugin, which holds 63 characters. */
export const NAME_RULE: Rule = {
  rule: 'self.metadata.name.size() <= 63',
  message: 'metadata.name must have at most 63 characters, because it becomes the value of a label',
};

/** The whole object as the API server checks it; metadata is its own business. */
export function objectSchema(definition: KindDefinition): Schema {
  return {
    type: 'object',
    description: definition.description,
    required: ['spec'],
    properties: { spec: definition.spec, status: definition.status },
    'x-kubernetes-validations': [NAME_RULE],
  };
}

/** The CustomResourceDefinition that serves a kind. */
export function customResourceDefinition(definition: KindDefinition) {
  const { kind, plural, shortNames, scope, columns, apiVersion = API_VERSION } = definition;
  const group = groupOf(apiVersion);
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
          schema: { openAPIV3Schema: objectSchema(definition) },
        },
      ],
    },
  };
}
