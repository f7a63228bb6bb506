import {
  CRON,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  DURATION,
  INTERVAL,
  JSON_POINTER,
  NO_TIME,
  OBJECT_ID,
  PATH,
  RANGE,
} from '../patterns.ts';
import type { Schema } from '../schema.ts';

/** Fields that several kinds share. Whoever uses one adds the description that its users read. */

export const DURATION_FIELD = {
  type: 'string',
  maxLength: 32,
  'x-kubernetes-validations': [
    { rule: `self.matches('^${DURATION}$')`, message: 'must be a duration such as 30s, 5m or 1h30m' },
    { rule: `!self.matches('^${NO_TIME}$')`, message: 'must be longer than nothing' },
  ],
} as const satisfies Schema;

export const CRON_FIELD = {
  type: 'string',
  maxLength: 128,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${CRON}$')`,
      message: 'must be a cron expression such as "0 2 * * *" (at two every night)',
    },
  ],
} as const satisfies Schema;

export const SCHEDULE_FIELD = {
  type: 'string',
  maxLength: 128,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^(${INTERVAL}|${CRON})$')`,
      message: 'must be a duration such as 30s or 5m, or a cron expression such as "*/5 * * * *"',
    },
    { rule: `!self.matches('^${NO_TIME}$')`, message: 'must be longer than nothing' },
  ],
} as const satisfies Schema;

export const RANGE_FIELD = {
  type: 'string',
  maxLength: 256,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${RANGE}$')`,
      message: 'must be a version or a range of versions such as 1.18.2, ~1.18 or ">=1.29 <1.32"',
    },
  ],
} as const satisfies Schema;

export const PATH_FIELD = {
  type: 'string',
  maxLength: 1024,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${PATH}$')`,
      message: 'must be a path inside the repository such as charts/web: no leading slash, no ".."',
    },
  ],
} as const satisfies Schema;

export const POINTER_FIELD = {
  type: 'string',
  maxLength: 512,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${JSON_POINTER}$')`,
      message: 'must be a JSON pointer such as /spec/replicas or /metadata/annotations/example.com~1key',
    },
  ],
} as const satisfies Schema;

export const OBJECT_ID_FIELD = {
  type: 'string',
  maxLength: 64,
  'x-kubernetes-validations': [
    { rule: `self.matches('^${OBJECT_ID}$')`, message: 'must be a whole Git object id: 40 or 64 hexadecimal digits' },
  ],
} as const satisfies Schema;

/** The name of an object in Kubernetes: a DNS subdomain, as most kinds want it. */
export const NAME_FIELD = {
  type: 'string',
  minLength: 1,
  maxLength: 253,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${DNS_SUBDOMAIN}$')`,
      message: 'must be a name of lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit',
    },
  ],
} as const satisfies Schema;

/** Names of namespaces, service accounts' namespaces, and of our own objects, which end up in label values. */
export const LABEL_NAME_FIELD = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${DNS_LABEL}$')`,
      message: 'must be a name of lower-case letters, digits and "-", beginning and ending with a letter or digit',
    },
  ],
} as const satisfies Schema;

/** Names of objects of unknown kinds: some (RBAC) allow colons and capitals. */
export const ANY_NAME_FIELD = { type: 'string', minLength: 1, maxLength: 253 } as const satisfies Schema;

export const API_VERSION_FIELD = {
  type: 'string',
  minLength: 1,
  maxLength: 317,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^(${DNS_SUBDOMAIN}/)?${DNS_LABEL}$')`,
      message: 'must be an API version such as v1 or apps/v1',
    },
  ],
} as const satisfies Schema;

export const KIND_FIELD = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  'x-kubernetes-validations': [
    { rule: `self.matches('^[A-Za-z][A-Za-z0-9]*$')`, message: 'must be a kind such as Deployment' },
  ],
} as const satisfies Schema;

export const LABELS_FIELD = {
  type: 'object',
  maxProperties: 64,
  additionalProperties: { type: 'string', maxLength: 63 },
} as const satisfies Schema;

/** An expression that Espalier compiles and runs; the API server sees text only. */
export const CEL_FIELD = { type: 'string', minLength: 1, maxLength: 4096 } as const satisfies Schema;

/**
 * Applied as one piece: merged field by field, an empty map that lost its last field would come out as null, which
 * means something else to a chart.
 */
export const FREE_FORM = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  'x-kubernetes-map-type': 'atomic',
} as const satisfies Schema;

export const SECRET_REF = {
  type: 'object',
  required: ['name'],
  properties: { name: { ...NAME_FIELD, description: 'Name of the Secret.' } },
} as const satisfies Schema;

/** At most one way to name a commit. */
export const GIT_REF = {
  type: 'object',
  properties: {
    branch: { type: 'string', minLength: 1, maxLength: 255, description: 'Follow this branch.' },
    tag: { type: 'string', minLength: 1, maxLength: 255, description: 'Stay on this tag.' },
    semver: {
      ...RANGE_FIELD,
      description: 'Follow the highest tag that is a version in this range, such as ">=1.2 <2".',
    },
    commit: { ...OBJECT_ID_FIELD, description: 'Stay on exactly this commit.' },
  },
  'x-kubernetes-validations': [
    {
      rule: '[has(self.branch), has(self.tag), has(self.semver), has(self.commit)].filter(x, x).size() <= 1',
      message: 'must name one of branch, tag, semver and commit, not several',
    },
  ],
} as const satisfies Schema;

/** Which objects a rule is about. What is left out matches everything. */
export const TARGET = {
  type: 'object',
  properties: {
    group: { type: 'string', maxLength: 253, description: 'API group, such as apps; "" is the core group.' },
    version: { type: 'string', maxLength: 63, description: 'API version without its group, such as v1.' },
    kind: { ...KIND_FIELD, description: 'Kind, such as Deployment.' },
    name: { ...ANY_NAME_FIELD, description: 'Name of the object.' },
    namespace: { ...LABEL_NAME_FIELD, description: 'Namespace of the object.' },
    labelSelector: {
      type: 'string',
      maxLength: 1024,
      description: 'Label selector, such as "app=web,tier!=test".',
    },
  },
} as const satisfies Schema;

export const WINDOW = {
  type: 'object',
  required: ['cron', 'for'],
  properties: {
    cron: {
      ...CRON_FIELD,
      description: 'When the window opens, as a cron expression: "0 2 * * *" is at two every night.',
    },
    for: { ...DURATION_FIELD, description: 'How long it stays open, such as 2h.' },
    timezone: {
      type: 'string',
      minLength: 1,
      maxLength: 64,
      default: 'UTC',
      description: 'Time zone of the cron expression, such as Europe/Berlin.',
    },
  },
} as const satisfies Schema;

export const APPROVAL = {
  type: 'string',
  enum: ['auto', 'required'],
  default: 'auto',
} as const satisfies Schema;
