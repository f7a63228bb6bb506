import type { Complete, Schema } from '../schema.ts';
import { ANY_NAME_FIELD, API_VERSION_FIELD, KIND_FIELD, LABEL_NAME_FIELD, NAME_FIELD } from './parts.ts';

/** The parts of a package that are no charts, in the order in which they run. */
export const EXPANSION_STEPS = ['pre-install', 'operator', 'post-install', 'post-cluster-ready'] as const;

/** What the platform owner says about a package; the package says the rest. */
export const EXPANSION_RULES = {
  type: 'object',
  properties: {
    conditionsOn: {
      type: 'object',
      required: ['apiVersion', 'kind', 'name'],
      description:
        'Object whose status.conditions the operator of the package sets. Absent: a ConfigMap that Espalier makes for it.',
      properties: {
        apiVersion: { ...API_VERSION_FIELD, description: 'API version of the object.' },
        kind: { ...KIND_FIELD, description: 'Kind of the object.' },
        name: { ...ANY_NAME_FIELD, description: 'Name of the object.' },
        namespace: { ...LABEL_NAME_FIELD, description: 'Its namespace. Leave it out for cluster-wide kinds.' },
      },
    },
    clusterRole: {
      ...NAME_FIELD,
      description:
        'ClusterRole whose rights the hooks and the operator of the package get in the whole cluster. Absent: hooks may edit the namespace that it is installed to, the operator only its conditions.',
    },
  },
} as const satisfies Schema;

export type ExpansionStep = (typeof EXPANSION_STEPS)[number];
export type ExpansionRules = Complete<typeof EXPANSION_RULES>;
