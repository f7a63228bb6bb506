import type { Complete, Schema } from '../schema.ts';
import { STATUS_FIELDS } from './status-parts.ts';

export const EXTENSION_STATUS = {
  type: 'object',
  description: 'What Espalier found. Written by the agent.',
  properties: STATUS_FIELDS,
} as const satisfies Schema;

export const INSTANCE_STATUS = {
  type: 'object',
  description: 'What Espalier found and did. Written by the agent.',
  properties: {
    ...STATUS_FIELDS,
    version: { type: 'string', description: 'Application version that is installed.' },
    why: { type: 'string', description: 'Why this version, or why none.' },
    available: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'Other versions that fit this cluster, newest first.',
    },
    plugin: {
      type: 'object',
      required: ['name'],
      description: 'The Plugin that it became.',
      properties: {
        name: { type: 'string', description: 'Name of the Plugin.' },
        namespace: { type: 'string', description: 'Namespace of the Plugin.' },
      },
    },
  },
} as const satisfies Schema;

export type ExtensionStatus = Complete<typeof EXTENSION_STATUS>;
export type ExtensionInstanceStatus = Complete<typeof INSTANCE_STATUS>;
