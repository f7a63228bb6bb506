import type { Complete, KindDefinition, Schema, Written } from '../api/index.ts';
import {
  ANY_NAME_FIELD,
  API_VERSION_FIELD,
  FREE_FORM,
  KIND_FIELD,
  LABEL_NAME_FIELD,
  PATH_FIELD,
} from '../api/kinds/parts.ts';
import { VALUES_FROM } from '../api/kinds/plugin-rules.ts';
import { CHART_SOURCE } from '../api/kinds/source.ts';

export const KUBEGEMS_GROUP = 'plugins.kubegems.io';
export const KUBEGEMS_API_VERSION = `${KUBEGEMS_GROUP}/v1beta1`;

const URL_FIELD = { type: 'string', minLength: 1, maxLength: 2048 } as const satisfies Schema;
const CHART_NAME = CHART_SOURCE.properties.name;
const { kind, name, prefix, optional } = VALUES_FROM.properties;

/** Both spellings: that of the proposal (enabled, repo, name) and the later one (disabled, url, chart). */
const SPEC = {
  type: 'object',
  description: 'What shall be installed, and how.',
  properties: {
    enabled: { type: 'boolean', description: 'false: not installed. The older way to write `disabled: true`.' },
    disabled: { type: 'boolean', description: 'true removes what is installed.' },
    kind: {
      type: 'string',
      enum: ['helm', 'kustomize', 'template', 'native'],
      description:
        'helm: a Helm release. kustomize: a kustomization. template: a chart that is only rendered, such as one made of Plugins. native: plain manifests. Absent: helm.',
    },
    repo: { ...URL_FIELD, description: 'The older name of `url`.' },
    url: {
      ...URL_FIELD,
      description:
        'Where it comes from: a Helm repository, oci://…, a Git repository (….git), a .tgz, .tar.gz, .zip or .yaml, or a folder of the repository that declares it.',
    },
    name: { ...CHART_NAME, description: 'The older name of `chart`.' },
    chart: { ...CHART_NAME, description: 'Name of the chart. Absent: the name of this object.' },
    version: {
      type: 'string',
      maxLength: 256,
      description: 'Version of the chart, or a range; for Git a tag, a branch or a commit.',
    },
    path: { ...PATH_FIELD, description: 'Folder in the Git repository or in the archive.' },
    installNamespace: {
      ...LABEL_NAME_FIELD,
      description: "Namespace that it is installed to, created where it is missing. Absent: this object's own.",
    },
    dependencies: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      description: 'Plugins and objects that must be there first.',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          apiVersion: { ...API_VERSION_FIELD, description: 'API version of the object, when it is not a Plugin.' },
          kind: { ...KIND_FIELD, description: 'Kind of the object. Absent: Plugin.' },
          name: { ...ANY_NAME_FIELD, description: 'Its name.' },
          namespace: { ...LABEL_NAME_FIELD, description: "Its namespace. Absent: this object's own." },
          version: { type: 'string', maxLength: 256, description: 'Not looked at, as in KubeGems.' },
        },
      },
    },
    values: { ...FREE_FORM, description: 'Values for the chart. They win over valuesFrom.' },
    valuesFrom: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      description: 'ConfigMaps and Secrets whose keys are values: each key is a path as in helm --set. Later ones win.',
      items: {
        type: 'object',
        required: ['kind', 'name'],
        properties: {
          kind,
          name: { ...name, description: "Its name, in this object's own namespace." },
          prefix: withoutDefault(prefix),
          optional: withoutDefault(optional),
        },
      },
    },
  },
} as const satisfies Schema;

const TIME = { type: 'string', format: 'date-time' } as const satisfies Schema;
const TEXT = { type: 'string' } as const satisfies Schema;

const STATUS = {
  type: 'object',
  description: 'What was found and done.',
  properties: {
    phase: {
      ...TEXT,
      description:
        'Installed: applied and healthy. Failed. Disabled: not installed. On the way there: Pending, Waiting, Progressing, Held, Suspended or Removing.',
    },
    message: { ...TEXT, description: 'Why it is in this phase.' },
    values: { ...FREE_FORM, description: 'Not filled: values may come from Secrets.' },
    version: { ...TEXT, description: 'Version that is installed.' },
    appVersion: { ...TEXT, description: 'Version of the application, as the chart names it.' },
    namespace: { ...TEXT, description: 'Namespace that it is installed to.' },
    installNamespace: { ...TEXT, description: 'The older name of `namespace`.' },
    creationTimestamp: { ...TIME, description: 'When it was installed first.' },
    upgradeTimestamp: { ...TIME, description: 'When it was installed or changed last.' },
    resources: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      description: 'The objects that it consists of.',
      items: {
        type: 'object',
        properties: {
          apiVersion: { ...TEXT, description: 'API version.' },
          kind: { ...TEXT, description: 'Kind.' },
          namespace: { ...TEXT, description: 'Namespace.' },
          name: { ...TEXT, description: 'Name.' },
          uid: { ...TEXT, description: 'UID.' },
        },
      },
    },
  },
} as const satisfies Schema;

export type KubegemsSpec = Written<typeof SPEC>;
export type KubegemsStatus = Complete<typeof STATUS>;

/** Columns as `kubectl get` shows them with KubeGems' own definition. */
export const KUBEGEMS_PLUGIN: KindDefinition = {
  apiVersion: KUBEGEMS_API_VERSION,
  kind: 'Plugin',
  plural: 'plugins',
  shortNames: [],
  scope: 'Namespaced',
  description: 'A plugin of KubeGems, installed by Espalier.',
  spec: SPEC,
  status: STATUS,
  columns: [
    { name: 'Kind', type: 'string', jsonPath: '.spec.kind', description: 'What it is made of.' },
    { name: 'Status', type: 'string', jsonPath: '.status.phase', description: 'Where it stands.' },
    { name: 'Namespace', type: 'string', jsonPath: '.status.namespace', description: 'Where it is installed.' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Version that is installed.' },
    { name: 'AppVersion', type: 'string', jsonPath: '.status.appVersion', description: 'Version of the application.' },
    { name: 'UpgradeTimestamp', type: 'date', jsonPath: '.status.upgradeTimestamp', description: 'Last change.' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'When it was created.' },
  ],
};

/** A default would be written into objects that somebody else's definition serves as well: absent stays absent. */
function withoutDefault<S extends { default: unknown }>({ default: _, ...schema }: S): Omit<S, 'default'> {
  return schema;
}

/** Whether an object is a Plugin of KubeGems, in whatever version. */
export function isKubegems(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): boolean {
  return (
    typeof object.apiVersion === 'string' &&
    object.apiVersion.startsWith(`${KUBEGEMS_GROUP}/`) &&
    object.kind === 'Plugin'
  );
}
