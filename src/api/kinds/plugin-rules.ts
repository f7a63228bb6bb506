import type { Complete, Schema } from '../schema.ts';
import {
  ANY_NAME_FIELD,
  API_VERSION_FIELD,
  APPROVAL,
  CEL_FIELD,
  DURATION_FIELD,
  FREE_FORM,
  KIND_FIELD,
  LABEL_NAME_FIELD,
  LABELS_FIELD,
  NAME_FIELD,
  POINTER_FIELD,
  RANGE_FIELD,
  TARGET,
  WINDOW,
} from './parts.ts';

export const VALUES_FROM = {
  type: 'object',
  required: ['kind', 'name'],
  properties: {
    kind: { type: 'string', enum: ['ConfigMap', 'Secret'], description: 'ConfigMap or Secret.' },
    name: { ...NAME_FIELD, description: "Its name, in the Plugin's own namespace." },
    key: {
      type: 'string',
      minLength: 1,
      maxLength: 253,
      description:
        'The one key to take. A key that ends in .yaml, .yml or .json holds a document of values; any other is itself the path of one value, as in helm --set. Absent: every key.',
    },
    prefix: {
      type: 'string',
      maxLength: 253,
      default: '',
      description: 'Path under which the values are put, such as controller.config. Empty: at the top.',
    },
    optional: { type: 'boolean', default: false, description: 'Go on when it does not exist.' },
  },
} as const satisfies Schema;

export const PATCH = {
  type: 'object',
  required: ['target', 'merge'],
  properties: {
    target: { ...TARGET, description: 'Which objects are changed. What is left out matches everything.' },
    merge: { ...FREE_FORM, description: 'A JSON merge patch (RFC 7396): null removes a field, lists are replaced.' },
  },
} as const satisfies Schema;

export const DEPENDENCY = {
  type: 'object',
  properties: {
    apiVersion: { ...API_VERSION_FIELD, description: 'API version of the object, when it is not a Plugin.' },
    kind: { ...KIND_FIELD, description: 'Kind of the object, when it is not a Plugin.' },
    name: { ...ANY_NAME_FIELD, description: 'Name of the Plugin or object.' },
    all: {
      type: 'boolean',
      description:
        'true, in place of a name: every object of the kind must be ready, and there must be one. In kinds with namespaces: those of the namespace.',
    },
    labels: { ...LABELS_FIELD, description: 'With all: only objects that carry these labels.' },
    namespace: {
      ...LABEL_NAME_FIELD,
      description: "Its namespace. Absent: the Plugin's own; leave it out for cluster-wide kinds.",
    },
    ready: {
      ...CEL_FIELD,
      description:
        'CEL expression over the object that is true when it is ready, such as "status.phase == \'Bound\'". Absent: the usual rules of its kind.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.apiVersion) == has(self.kind)',
      message: 'apiVersion and kind go together: both for an object, neither for a Plugin',
    },
    {
      rule: 'has(self.kind) || !has(self.ready)',
      message: 'ready needs apiVersion and kind: a Plugin says itself when it is ready',
    },
    {
      rule: 'has(self.name) != (has(self.all) && self.all)',
      message: 'must have either a name, or all: true for every object of a kind',
    },
    {
      rule: "!has(self.all) || !self.all || (has(self.kind) && self.kind != 'Plugin')",
      message: 'all needs apiVersion and kind of something else than Plugins: those are named one by one',
      fieldPath: '.all',
    },
    {
      rule: '!has(self.labels) || (has(self.all) && self.all)',
      message: 'labels go with all: true: an object that has a name needs none',
      fieldPath: '.labels',
    },
  ],
} as const satisfies Schema;

export const GATE = {
  type: 'object',
  required: ['apiVersion', 'kind', 'name', 'condition'],
  properties: {
    apiVersion: { ...API_VERSION_FIELD, description: 'API version of the object.' },
    kind: { ...KIND_FIELD, description: 'Kind of the object.' },
    name: { ...ANY_NAME_FIELD, description: 'Name of the object.' },
    namespace: {
      ...LABEL_NAME_FIELD,
      description: "Its namespace. Absent: the Plugin's own; leave it out for cluster-wide kinds.",
    },
    condition: {
      type: 'string',
      minLength: 1,
      maxLength: 316,
      description:
        'Type of the condition that must be True: in status.conditions, or in a ConfigMap the key of data that holds its status.',
    },
    by: {
      type: 'string',
      minLength: 1,
      maxLength: 253,
      description: 'Who is to open it, for those who read what is waited for: "operator demo-operator".',
    },
    timeout: {
      ...DURATION_FIELD,
      description:
        'After this long the Plugin counts as failed, and goes on waiting. Counts from when nothing but gates is waited for. Absent: never.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: "self.apiVersion != 'v1' || self.kind != 'ConfigMap' || self.condition.matches('^[-._a-zA-Z0-9]+$')",
      message: 'a condition on a ConfigMap is a key of its data: letters, digits, "-", "_" and "." only',
      fieldPath: '.condition',
    },
  ],
} as const satisfies Schema;

export const WHEN = {
  type: 'object',
  properties: {
    kubernetes: { ...RANGE_FIELD, description: 'Kubernetes versions that it is for, such as ">=1.29".' },
    cluster: { ...LABELS_FIELD, description: "Labels that the cluster must have (the Sync's spec.cluster.labels)." },
    window: { ...WINDOW, description: 'When changes may be made. Outside the window they wait; nothing is removed.' },
  },
} as const satisfies Schema;

export const HEALTH_CHECK = {
  type: 'object',
  required: ['apiVersion', 'kind', 'ready'],
  properties: {
    apiVersion: { ...API_VERSION_FIELD, description: 'API version of the objects.' },
    kind: { ...KIND_FIELD, description: 'Kind of the objects.' },
    name: {
      ...ANY_NAME_FIELD,
      description: 'Name of one object. Absent: every object of the kind that this Plugin declares.',
    },
    ready: { ...CEL_FIELD, description: 'CEL expression over the object that is true when it is healthy.' },
  },
} as const satisfies Schema;

export const DRIFT = {
  type: 'object',
  default: {},
  properties: {
    mode: {
      type: 'string',
      enum: ['repair', 'report', 'ignore'],
      default: 'repair',
      description: 'repair: put changed fields back at once. report: only say so. ignore: do not even look.',
    },
    ignore: {
      type: 'array',
      maxItems: 50,
      'x-kubernetes-list-type': 'atomic',
      description: 'Fields that others may change.',
      items: {
        type: 'object',
        required: ['paths'],
        properties: {
          target: { ...TARGET, description: 'Which objects. Absent: all objects of the Plugin.' },
          paths: {
            type: 'array',
            minItems: 1,
            maxItems: 50,
            'x-kubernetes-list-type': 'atomic',
            description: 'JSON pointers to the fields, such as /spec/replicas.',
            items: POINTER_FIELD,
          },
        },
      },
    },
  },
} as const satisfies Schema;

const KEEP_OR_DELETE = { type: 'string', enum: ['keep', 'delete'], default: 'keep' } as const satisfies Schema;

export const DELETION = {
  type: 'object',
  default: {},
  properties: {
    policy: {
      type: 'string',
      enum: ['delete', 'orphan'],
      default: 'delete',
      description:
        'What happens to the objects when the Plugin is removed. orphan: they all stay, and nobody owns them.',
    },
    crds: {
      ...KEEP_OR_DELETE,
      description: 'CustomResourceDefinitions. One that still has objects stays in any case.',
    },
    namespaces: { ...KEEP_OR_DELETE, description: 'Namespaces, with all that is in them.' },
    volumes: { ...KEEP_OR_DELETE, description: 'PersistentVolumeClaims and PersistentVolumes.' },
  },
} as const satisfies Schema;

export const UPGRADE = {
  type: 'object',
  default: {},
  properties: {
    crds: {
      type: 'string',
      enum: ['replace', 'create', 'skip'],
      default: 'replace',
      description:
        "CustomResourceDefinitions in a chart's crds folder. replace: create and upgrade, never downgrade. create: only where missing. skip: leave alone.",
    },
    approval: { ...APPROVAL, description: 'required: a new version waits until a person approves it.' },
    onFailure: {
      type: 'string',
      enum: ['retry', 'keep', 'rollback'],
      default: 'retry',
      description:
        'What follows when an upgrade of a Helm release fails. retry: try again, less and less often. keep: leave what is there until something changes. rollback: go back to the last revision that was deployed.',
    },
    test: {
      type: 'boolean',
      default: false,
      description: "Run the chart's tests after each revision; it is ready when they have passed.",
    },
  },
} as const satisfies Schema;

export const APPLY = {
  type: 'object',
  default: {},
  properties: {
    adopt: {
      type: 'boolean',
      default: false,
      description:
        'Take over objects that exist already and that nobody else declares. Otherwise they are left alone and reported.',
    },
    force: {
      type: 'boolean',
      default: false,
      description:
        'Take over fields that another field manager set. Otherwise the conflict is reported with its owner.',
    },
  },
} as const satisfies Schema;

export type Target = Complete<typeof TARGET>;
export type Dependency = Complete<typeof DEPENDENCY>;
export type Gate = Complete<typeof GATE>;
export type When = Complete<typeof WHEN>;
export type HealthCheck = Complete<typeof HEALTH_CHECK>;
export type Patch = Complete<typeof PATCH>;
export type ValuesFrom = Complete<typeof VALUES_FROM>;
export type Drift = Complete<typeof DRIFT>;
export type Deletion = Complete<typeof DELETION>;
