import type { Complete, Schema } from '../schema.ts';
import { MESSAGE, OBJECT_FIELDS, STATUS_FIELDS } from './status-parts.ts';

export const SYNC_PHASES = ['Pending', 'Progressing', 'Ready', 'Failed', 'Held', 'Suspended', 'Removing'] as const;

const INVENTORY_ENTRY = {
  type: 'object',
  required: ['apiVersion', 'kind', 'name'],
  properties: {
    ...OBJECT_FIELDS,
    fields: {
      type: 'string',
      description: 'Hash of the fields that the Sync wrote; they are restored when somebody edits them.',
    },
  },
} as const satisfies Schema;

const FAULT = {
  type: 'object',
  required: ['file', 'message'],
  properties: {
    file: { type: 'string', description: 'File in the repository.' },
    line: { type: 'integer', minimum: 1, description: 'Line in the file.' },
    column: { type: 'integer', minimum: 1, description: 'Column in the line.' },
    message: { type: 'string', description: 'What is wrong and what was expected.' },
    object: { type: 'string', description: 'The object that it is about, such as "Plugin web".' },
  },
} as const satisfies Schema;

const HELD = {
  type: 'object',
  required: ['commit', 'reason'],
  description: 'Removals that wait for a person.',
  properties: {
    commit: { type: 'string', description: 'The commit to approve: espalier approve <sync> --commit <this>.' },
    reason: { type: 'string', description: 'Why they wait.' },
    objects: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'What would be removed.',
    },
  },
} as const satisfies Schema;

const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const satisfies Schema;

export const SYNC_STATUS = {
  type: 'object',
  description: 'What Espalier found and did. Written by the agent.',
  properties: {
    phase: {
      type: 'string',
      enum: SYNC_PHASES,
      description:
        'Pending: not looked at yet. Progressing: applied, Plugins not all ready. Ready: all ready. Failed: cannot be fetched, read or applied; it is tried again. Held: removals wait for approval. Suspended. Removing.',
    },
    message: MESSAGE,
    ...STATUS_FIELDS,
    commit: { type: 'string', description: 'Commit that is applied.' },
    observed: {
      type: 'object',
      required: ['commit'],
      description: 'What the followed ref pointed to when it was last looked at.',
      properties: {
        commit: { type: 'string', description: 'Commit at the head.' },
        ref: { type: 'string', description: 'The ref, such as refs/heads/main.' },
      },
    },
    inventory: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: INVENTORY_ENTRY,
      description: 'The objects that this Sync wrote. Only these are ever removed.',
    },
    plugins: {
      type: 'object',
      required: ['total', 'ready', 'waiting', 'failed', 'held'],
      description: 'How its Plugins do.',
      properties: {
        total: count('All Plugins of this Sync.'),
        ready: count('Plugins that are ready.'),
        waiting: count('Plugins that wait or make progress.'),
        failed: count('Plugins that failed and are tried again.'),
        held: count('Plugins that wait for consent.'),
      },
    },
    held: HELD,
    base: {
      type: 'object',
      required: ['commit', 'count'],
      description: 'What was in force before the first of the removals that wait: they are measured against it.',
      properties: {
        commit: { type: 'string', description: 'The commit that was applied then.' },
        count: count('How many objects the Sync had written then.'),
      },
    },
    kept: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'Objects that the last removals left in place, because a deletion rule says so.',
    },
    approved: { type: 'string', description: 'The last commit whose removals were approved and carried out.' },
    faults: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: FAULT,
      description: 'Declarations that cannot be used, at most fifty. Everything else is applied all the same.',
    },
  },
} as const satisfies Schema;

export type SyncPhase = (typeof SYNC_PHASES)[number];
export type SyncStatus = Complete<typeof SYNC_STATUS>;
export type SyncInventoryEntry = Complete<typeof INVENTORY_ENTRY>;
export type SyncFault = Complete<typeof FAULT>;
