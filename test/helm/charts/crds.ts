import { chart } from '../../support/charts.ts';
import { configMap, type Fixture } from './fixture.ts';

/** A definition of `Gadget` in a group, as a file of `crds/`; a number tells one version of its schema from another. */
export function gadgetDefinition(group: string, fields: readonly string[] = ['size']): string {
  const properties = Object.fromEntries(fields.map((field) => [field, { type: 'string' }]));
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Gadget', listKind: 'GadgetList', plural: 'gadgets', singular: 'gadget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
        },
      ],
    },
  });
}

/** A kind in `crds/` and objects of it beside; a subchart brings another kind. */
export const CRDS: Fixture = {
  name: 'crds',
  source: 'repository',
  steps: (group) => [
    { chart: chart('crds', files(group)) },
    { chart: chart('crds', files(group), { version: '1.0.1' }), values: { size: 'large' } },
  ],
};

function files(group: string): Record<string, string> {
  const below = `below.${group}`;
  return {
    'values.yaml': 'size: small\n',
    'crds/gadgets.yaml': gadgetDefinition(group),
    'charts/below/Chart.yaml': '{"apiVersion": "v2", "name": "below", "version": "1.0.0"}',
    'charts/below/crds/gadgets.yaml': gadgetDefinition(below),
    'templates/gadget.yaml': `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {size: {{ .Values.size }}}\n`,
    'templates/below.yaml': `apiVersion: ${below}/v1\nkind: Gadget\nmetadata: {name: two}\nspec: {size: {{ .Values.size }}}\n`,
    'templates/knows.yaml': configMap('knows', [`gadgets: "{{ .Capabilities.APIVersions.Has "${group}/v1/Gadget" }}"`]),
  };
}

/**
 * A kind among the templates: Helm makes it before what else there is, and takes it along. The object fits both schemas:
 * Helm sends it at once, and the API server holds it to the old one for a moment.
 */
export const TEMPLATED_CRDS: Fixture = {
  name: 'templated-crds',
  source: 'git',
  spec: { deletion: { crds: 'delete' } },
  steps: (group) => [
    { chart: chart('templated-crds', { 'templates/kind.yaml': gadgetDefinition(group) }) },
    {
      chart: chart('templated-crds', {
        'templates/kind.yaml': gadgetDefinition(group, ['size', 'colour']),
        'templates/one.yaml': `apiVersion: ${group}/v1\nkind: Gadget\nmetadata: {name: one}\nspec: {size: small}\n`,
      }),
    },
  ],
};
