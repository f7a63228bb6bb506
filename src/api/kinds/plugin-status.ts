import { INVENTORY_LINE, type InventoryEntry } from '../inventory-line.ts';
import type { Complete, Schema } from '../schema.ts';
import { MESSAGE, STATUS_FIELDS } from './status-parts.ts';

export const PLUGIN_PHASES = [
  'Pending',
  'Waiting',
  'Progressing',
  'Ready',
  'Failed',
  'Held',
  'Suspended',
  'Removing',
] as const;

const REVISION = {
  type: 'object',
  description: 'What is applied.',
  properties: {
    commit: { type: 'string', description: 'Commit that last touched what the Plugin is made of.' },
    chart: { type: 'string', description: 'Name of the chart.' },
    version: {
      type: 'string',
      description:
        "The chart's version; for a folder in Git the beginning of the commit, for a download that of its digest.",
    },
    app: { type: 'string', description: 'Version of the application, as the chart names it.' },
    key: {
      type: 'string',
      description:
        'Hash of everything that the objects are made from. The same key gives the same objects. `partly` while something else is begun and not through.',
    },
  },
} as const satisfies Schema;

const DRIFT_ENTRY = {
  type: 'object',
  required: ['object', 'fields'],
  properties: {
    object: { type: 'string', description: 'The object, such as "Deployment web/frontend".' },
    fields: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'Paths of the fields that differ. Values are never shown.',
    },
    by: { type: 'string', description: 'Field manager that changed them, when it is known.' },
    since: { type: 'string', format: 'date-time', description: 'When it was first seen.' },
  },
} as const satisfies Schema;

const HISTORY_ENTRY = {
  type: 'object',
  required: ['outcome', 'at'],
  properties: {
    commit: { type: 'string', description: 'Commit that was applied.' },
    version: { type: 'string', description: 'Version that was applied.' },
    chart: { type: 'string', description: 'Name of the chart.' },
    app: { type: 'string', description: 'Version of the application, as the chart names it.' },
    revision: { type: 'integer', minimum: 1, description: 'Revision of the Helm release.' },
    key: { type: 'string', description: 'Hash of everything that the objects were made from.' },
    outcome: { type: 'string', description: 'How it ended: Ready or Failed.' },
    at: { type: 'string', format: 'date-time', description: 'When it ended.' },
  },
} as const satisfies Schema;

/** The end of what a container of a failed Job said, or why nobody knows. */
const FAILED_LOG = {
  type: 'object',
  required: ['object', 'uid', 'lines', 'at'],
  properties: {
    object: { type: 'string', description: 'The object that failed, such as "Job web/migrate".' },
    uid: { type: 'string', description: 'UID of the object that failed.' },
    pod: { type: 'string', description: 'Name of its pod.' },
    container: { type: 'string', description: 'Name of the container.' },
    lines: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description:
        'The last lines that it wrote, without values of Secrets that are known, and why it was ended where Kubernetes did that.',
    },
    why: { type: 'string', description: 'Why there are no lines.' },
    at: { type: 'string', format: 'date-time', description: 'When they were read.' },
  },
} as const satisfies Schema;

/** What is known of the Helm release of a Plugin of kind helm. Written before the release's record is. */
const RELEASE = {
  type: 'object',
  required: ['name', 'namespace', 'revision', 'attempt'],
  description: 'The Helm release, as `helm list` shows it.',
  properties: {
    name: { type: 'string', description: 'Name of the release.' },
    namespace: { type: 'string', description: 'Namespace of the release.' },
    revision: { type: 'integer', minimum: 1, description: 'Revision that was written last.' },
    attempt: { type: 'string', description: 'Tells the record of this revision from one that somebody else wrote.' },
    key: {
      type: 'string',
      description: 'Hash of everything that this revision was made from; `rollback` for one that took another back.',
    },
    gaveUp: {
      type: 'object',
      required: ['key', 'why'],
      description: 'What failed and is not tried again until something changes (upgrade.onFailure keep).',
      properties: {
        key: { type: 'string', description: 'Hash of what failed.' },
        why: { type: 'string', description: 'Why it failed.' },
      },
    },
    rolledBack: {
      type: 'object',
      required: ['key', 'revision', 'why'],
      description: 'A revision that failed and was taken back. It is tried again when something changes.',
      properties: {
        key: { type: 'string', description: 'Hash of what failed.' },
        revision: { type: 'integer', minimum: 1, description: 'Revision that is deployed again.' },
        why: { type: 'string', description: 'Why it failed.' },
      },
    },
  },
} as const satisfies Schema;

/** Which exact chart or file a source meant at the last look. */
const RESOLVED = {
  type: 'object',
  required: ['source', 'version', 'id'],
  description: 'The chart or download that the source means, as of the last look.',
  properties: {
    source: { type: 'string', description: 'Hash of the source that was asked.' },
    version: { type: 'string', description: 'Version of the chart; for a download the beginning of its digest.' },
    id: { type: 'string', description: 'Digest of the chart or download, or what else tells it from any other.' },
  },
} as const satisfies Schema;

const ATTEMPT = {
  type: 'object',
  description: 'The last try that did not succeed yet.',
  properties: {
    key: { type: 'string', description: 'Hash of what was tried.' },
    generation: { type: 'integer', minimum: 0, description: 'Generation of the Plugin that was tried.' },
    failures: { type: 'integer', minimum: 0, description: 'How often it failed in a row.' },
    message: { type: 'string', description: 'Why it failed the last time.' },
  },
} as const satisfies Schema;

export const PLUGIN_STATUS = {
  type: 'object',
  // The agent alone writes it, and no owner of each of its fields need be kept.
  'x-kubernetes-map-type': 'atomic',
  description: 'What Espalier found and did. Written by the agent.',
  properties: {
    phase: {
      type: 'string',
      enum: PLUGIN_PHASES,
      description:
        'Pending: not looked at yet. Waiting: for a dependency, gate or window. Progressing: applied, not healthy yet. Ready: applied and healthy. Failed: could not be rendered, applied or made healthy; it is tried again. Held: waits for consent. Suspended. Removing.',
    },
    message: MESSAGE,
    ...STATUS_FIELDS,
    revision: REVISION,
    inventory: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: `The objects that this Plugin owns. Only these are ever changed or deleted. ${INVENTORY_LINE}`,
    },
    notDowngraded: {
      description: 'Definitions of the chart that are newer in the cluster, and left as they are there.',
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
    },
    imagesLeft: {
      description:
        'Images that come from elsewhere than where spec.images.rewrite of the Sync leads, or its value imageRegistry.',
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
    },
    waitingFor: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string' },
      description: 'What it waits for.',
    },
    drift: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: DRIFT_ENTRY,
      description: 'Objects whose fields somebody else changed.',
    },
    logs: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: FAILED_LOG,
      description: 'The last lines that the pods of failed Jobs wrote. Absent once everything is healthy.',
    },
    history: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: HISTORY_ENTRY,
      description: 'The last ten revisions, newest first.',
    },
    attempted: ATTEMPT,
    release: RELEASE,
    resolved: RESOLVED,
  },
} as const satisfies Schema;

export type PluginPhase = (typeof PLUGIN_PHASES)[number];
/** As it is worked with: the inventory read from its lines. */
export type PluginStatus = Omit<Complete<typeof PLUGIN_STATUS>, 'inventory'> & { inventory?: InventoryEntry[] };
export type DriftEntry = Complete<typeof DRIFT_ENTRY>;
export type FailedLog = Complete<typeof FAILED_LOG>;
export type HistoryEntry = Complete<typeof HISTORY_ENTRY>;
export type Revision = Complete<typeof REVISION>;
export type Attempt = Complete<typeof ATTEMPT>;
export type PluginRelease = Complete<typeof RELEASE>;
export type ResolvedSource = Complete<typeof RESOLVED>;
