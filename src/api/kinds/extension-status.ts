import type { Complete, Schema } from '../schema.ts';
import { MESSAGE, STATUS_FIELDS } from './status-parts.ts';

export const EXTENSION_STATUS = {
  type: 'object',
  description: 'What Espalier found. Written by the agent.',
  properties: {
    ...STATUS_FIELDS,
    message: MESSAGE,
    instances: { type: 'integer', minimum: 0, description: 'How many instances of it there are.' },
    fits: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: "Its versions that fit this cluster's Kubernetes, newest first.",
    },
  },
} as const satisfies Schema;

export const INSTANCE_STATUS = {
  type: 'object',
  description: 'What Espalier found and did. Written by the agent.',
  properties: {
    ...STATUS_FIELDS,
    version: { type: 'string', description: 'Application version that its Plugin is made from.' },
    why: { type: 'string', description: 'Why this version, or why none.' },
    available: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'Other versions that fit this cluster, newest first.',
    },
    next: {
      type: 'object',
      required: ['version', 'waitsFor'],
      description: 'A version that it is about to move to.',
      properties: {
        version: { type: 'string', description: 'Its application version.' },
        waitsFor: { type: 'string', description: 'What must happen first: an approval, a window, a step in between.' },
      },
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
