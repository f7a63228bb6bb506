import { INVENTORY_LINE, type InventoryEntry } from '../inventory-line.ts';
import type { Complete, Schema } from '../schema.ts';
import { MESSAGE, STATUS_FIELDS } from './status-parts.ts';

export const SYNC_PHASES = ['Pending', 'Progressing', 'Ready', 'Failed', 'Held', 'Suspended', 'Removing'] as const;

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

const SENT_STATUS = {
  type: 'object',
  required: ['context', 'state', 'description', 'sent'],
  properties: {
    context: { type: 'string', description: 'What it is about, such as espalier/prod or espalier/prod/drift.' },
    state: { type: 'string', enum: ['pending', 'success', 'failure', 'error'], description: 'What was said.' },
    description: { type: 'string', description: 'Why, in one line.' },
    url: { type: 'string', description: 'Where more is told.' },
    sent: { type: 'boolean', description: 'The forge has it. false: it is being sent, or was when the agent ended.' },
  },
} as const satisfies Schema;

const ANSWER = {
  type: 'object',
  required: ['commit', 'statuses'],
  properties: {
    commit: { type: 'string', description: 'The commit that was answered.' },
    plugins: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'The Plugins (namespace/name) that no later commit touched.',
    },
    statuses: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: SENT_STATUS,
      description: 'What it was told.',
    },
  },
} as const satisfies Schema;

const SHOWN_OBJECT = {
  type: 'object',
  required: ['plugin', 'object', 'action'],
  properties: {
    plugin: { type: 'string', description: 'Its Plugin, as namespace/name.' },
    object: { type: 'string', description: 'The object.' },
    action: { type: 'string', description: 'What was to happen to it.' },
    hash: { type: 'string', description: 'Of what was to be declared.' },
  },
} as const satisfies Schema;

const PULL_REQUEST = {
  type: 'object',
  required: ['number', 'head', 'base', 'plugins', 'shown'],
  properties: {
    number: { type: 'integer', minimum: 1, description: 'Its number on the forge.' },
    head: { type: 'string', description: 'The commit that was planned.' },
    base: { type: 'string', description: 'The commit that it was planned on top of.' },
    tree: { type: 'string', description: "Git's id of all files as the merge would make them." },
    facts: { type: 'string', description: 'Hash of what the plan was made from, the cluster included.' },
    comment: { type: 'string', description: 'Id of our comment on the forge.' },
    body: { type: 'string', description: 'Hash of what the comment says.' },
    plannedAt: { type: 'string', format: 'date-time', description: 'When this plan was first made.' },
    status: { ...SENT_STATUS, description: 'What the head was told.' },
    plugins: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'The Plugins (namespace/name) that it touches.',
    },
    shown: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: SHOWN_OBJECT,
      description: 'What the merge would do, object by object, as the comment says. Empty where that is much.',
    },
    digest: { type: 'string', description: 'Hash of the whole plan that was shown.' },
    held: { type: 'boolean', description: 'Something of it waits for approval.' },
    approved: {
      type: 'object',
      required: ['by', 'head', 'shown', 'at'],
      description: 'An approval given in the forge. It holds for this head and this plan.',
      properties: {
        by: { type: 'string', description: 'Who commented.' },
        head: { type: 'string', description: 'The commit that the plan named.' },
        shown: { type: 'string', description: 'Hash of the plan that was shown.' },
        at: { type: 'string', format: 'date-time', description: 'When the last comment that says so was written.' },
      },
    },
    voided: {
      type: 'string',
      format: 'date-time',
      description: 'What was said until then does not count: the plan became another one.',
    },
    asked: {
      type: 'string',
      description: 'For a pull request from a fork: the head that somebody allowed to be planned.',
    },
    closed: { type: 'boolean', description: 'It is no longer open: merged or closed.' },
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
      items: { type: 'string' },
      description: `The objects that this Sync wrote. Only these are ever removed. ${INVENTORY_LINE}`,
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
    answers: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: ANSWER,
      description: 'What the forge was told about the last commits, the newest first.',
    },
    pullRequests: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: PULL_REQUEST,
      description: 'Pull requests that were planned: the open ones, and those that were closed last.',
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
/** As it is worked with: the inventory read from its lines. */
export type SyncStatus = Omit<Complete<typeof SYNC_STATUS>, 'inventory'> & { inventory?: SyncInventoryEntry[] };
export type SyncInventoryEntry = Omit<InventoryEntry, 'applied' | 'once'>;
export type Answer = Complete<typeof ANSWER>;
export type SentStatus = Complete<typeof SENT_STATUS>;
export type PlannedPull = Complete<typeof PULL_REQUEST>;
export type SyncFault = Complete<typeof FAULT>;
