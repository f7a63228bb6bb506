import type { KubeObject } from '../objects.ts';
import type { Complete, Schema, Written } from '../schema.ts';
import type { ExtensionStatus } from './extension-status.ts';
import { FREE_FORM, LABEL_NAME_FIELD, LABELS_FIELD, RANGE_FIELD } from './parts.ts';
import { PLUGIN_SPEC } from './plugin.ts';
import { SOURCE } from './source.ts';

const { namespace, patches, gates, health, apply, drift, deletion, timeout, upgrade, serviceAccountName } =
  PLUGIN_SPEC.properties;
const { crds } = upgrade.properties;

/** What every version has in common as a Plugin. */
const PLUGIN_TEMPLATE = {
  type: 'object',
  default: {},
  properties: {
    kind: { ...PLUGIN_SPEC.properties.kind, default: 'helm' },
    namespace: {
      ...namespace,
      description: "Namespace that its objects go to. Absent: the instance's own.",
    },
    ...{ patches, gates, health, apply, drift, deletion, timeout, serviceAccountName },
    upgrade: { type: 'object', properties: { crds }, description: 'How new versions are taken.' },
  },
} as const satisfies Schema;

const EXTENSION_VERSION = {
  type: 'object',
  required: ['source'],
  properties: {
    app: { type: 'string', minLength: 1, maxLength: 128, description: 'Version of the application, such as v0.4.0.' },
    kubernetes: {
      ...RANGE_FIELD,
      description: 'Kubernetes versions that it fits, such as ">=1.29 <1.32". Absent: every one.',
    },
    source: { ...SOURCE, description: 'Where it comes from: one of chart, oci, git and download.' },
    from: {
      ...RANGE_FIELD,
      description: 'Application versions that can be upgraded to this one directly. Absent: every one.',
    },
    deprecated: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      description: 'Why it should no longer be used, and what to use instead.',
    },
    tagsFollow: {
      type: 'string',
      enum: ['kubernetes'],
      description:
        'The tags of source.oci are Kubernetes versions (v1.34, v1.35): each stands for a version that fits that one.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.app) != has(self.tagsFollow)',
      message: 'must have either app, or tagsFollow for a registry whose tags are Kubernetes versions',
    },
    { rule: '!has(self.tagsFollow) || has(self.source.oci)', message: 'tagsFollow needs source.oci' },
    {
      rule: '!has(self.tagsFollow) || !has(self.kubernetes)',
      message: 'kubernetes cannot be given beside tagsFollow: the tags say it',
    },
  ],
} as const satisfies Schema;

export const EXTENSION_SPEC = {
  type: 'object',
  required: ['versions'],
  description: 'What can be installed.',
  properties: {
    displayName: { type: 'string', maxLength: 128, description: 'Name for people. Absent: the name of the object.' },
    category: { type: 'string', maxLength: 63, description: 'Group that lists show it in, such as Networking.' },
    logo: { type: 'string', maxLength: 262144, description: 'A path in the repository, an https URL, or a data URI.' },
    description: { type: 'string', maxLength: 4096, description: 'What it is, in a few sentences.' },
    class: {
      type: 'string',
      enum: ['default', 'accessible', 'custom', 'system'],
      default: 'accessible',
      description:
        "default: on every cluster that `when` matches. accessible: on request. custom: brought by a customer. system: built in, can't be removed.",
    },
    when: {
      type: 'object',
      description: 'Which clusters a default extension is for. Absent: all.',
      properties: {
        cluster: {
          ...LABELS_FIELD,
          description: "Labels that the cluster must have (the Sync's spec.cluster.labels).",
        },
      },
    },
    parameters: { ...FREE_FORM, description: 'JSON Schema of its parameters, with defaults and descriptions.' },
    plugin: { ...PLUGIN_TEMPLATE, description: 'How it is installed: fields of the Plugin that an instance becomes.' },
    dependsOn: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'set',
      items: LABEL_NAME_FIELD,
      description: 'Names of extensions that must be there first.',
    },
    versions: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: EXTENSION_VERSION,
      description: 'What versions there are, and which Kubernetes versions they fit.',
    },
  },
} as const satisfies Schema;

export type ExtensionSpec = Complete<typeof EXTENSION_SPEC>;
export type ExtensionVersion = Complete<typeof EXTENSION_VERSION>;

export interface Extension extends KubeObject {
  kind: 'Extension';
  spec: ExtensionSpec;
  status?: ExtensionStatus;
}

/** An Extension as people write it, without the defaults. */
export interface ExtensionDeclaration extends KubeObject {
  kind: 'Extension';
  spec: Written<typeof EXTENSION_SPEC>;
}
