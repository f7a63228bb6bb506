import type { Complete, Schema } from '../schema.ts';

export const CONDITION_SCHEMA = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: {
      type: 'string',
      maxLength: 316,
      description: 'What it is about: Ready, Applied, Healthy, Drifted, Waiting, Held and others.',
    },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'], description: 'Whether it is so.' },
    reason: { type: 'string', minLength: 1, maxLength: 1024, description: 'Why, as one word for programs.' },
    message: { type: 'string', maxLength: 32768, description: 'Why, for people.' },
    lastTransitionTime: { type: 'string', format: 'date-time', description: 'When `status` last changed.' },
    observedGeneration: {
      type: 'integer',
      minimum: 0,
      description: 'The generation of the object that it was found for.',
    },
  },
} as const satisfies Schema;

export type Condition = Complete<typeof CONDITION_SCHEMA>;

/** What every status has. */
export const STATUS_FIELDS = {
  observedGeneration: {
    type: 'integer',
    minimum: 0,
    description: 'The generation of the declaration that this status is about.',
  },
  conditions: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: CONDITION_SCHEMA,
    description: 'The state in parts. `kubectl wait --for=condition=Ready` works on it.',
  },
  lastHandledReconcileAt: {
    type: 'string',
    description: 'The value of the annotation espalier.dev/reconcile-at that was last acted on.',
  },
} as const satisfies Record<string, Schema>;

export const MESSAGE = {
  type: 'string',
  description: 'Why it is in this phase, for people.',
} as const satisfies Schema;
