import type { KubeObject } from '../objects.ts';
import { JSON_POINTER } from '../patterns.ts';
import type { Complete, Schema, Written } from '../schema.ts';
import {
  DURATION_FIELD,
  FREE_FORM,
  GIT_REF,
  LABEL_NAME_FIELD,
  LABELS_FIELD,
  NAME_FIELD,
  PATH_FIELD,
  SCHEDULE_FIELD,
  SECRET_REF,
} from './parts.ts';
import { GIT_URL } from './source.ts';
import type { SyncStatus } from './sync-status.ts';

const HTTP_URL = {
  type: 'string',
  minLength: 1,
  maxLength: 2048,
  'x-kubernetes-validations': [
    { rule: `self.matches('^https?://[^ /]+/?[^ ]*$')`, message: 'must be a URL that begins with https:// or http://' },
  ],
} as const satisfies Schema;

const REPOSITORY = {
  type: 'object',
  required: ['url'],
  description: 'The Git repository to follow.',
  properties: {
    url: {
      ...GIT_URL,
      description: 'URL of the repository: https or ssh. Credentials belong into secretRef, not here.',
    },
    ref: { ...GIT_REF, description: 'What to follow. Absent: the default branch of the repository.' },
    path: { ...PATH_FIELD, default: '.', description: 'Folder in the repository that holds the declarations.' },
    secretRef: {
      ...SECRET_REF,
      description:
        'Secret in the namespace of the Sync with credentials: keys username and password, bearerToken, or identity and known_hosts.',
    },
    caRef: {
      type: 'object',
      required: ['kind', 'name'],
      description: 'Certificate authorities to trust for this repository, beside those of the system.',
      properties: {
        kind: { type: 'string', enum: ['ConfigMap', 'Secret'], description: 'ConfigMap or Secret.' },
        name: { ...NAME_FIELD, description: 'Its name, in the namespace of the Sync.' },
        key: {
          type: 'string',
          minLength: 1,
          maxLength: 253,
          default: 'ca.crt',
          description: 'Key that holds the certificates, as PEM.',
        },
      },
    },
    proxy: { ...HTTP_URL, description: 'HTTP proxy for this repository, such as http://proxy.example.com:3128.' },
    timeout: { ...DURATION_FIELD, default: '1m', description: 'How long one fetch may take.' },
  },
} as const satisfies Schema;

const BESIDE = { type: 'string', minLength: 1, maxLength: 253 } as const;

const IMAGES = {
  type: 'object',
  default: {},
  properties: {
    rewrite: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      description: 'Rules by the beginning of an image name; the longest that fits wins. Tags and digests stay.',
      items: {
        type: 'object',
        required: ['from', 'to'],
        properties: {
          from: {
            type: 'string',
            minLength: 1,
            maxLength: 512,
            description: 'Beginning of the name, such as docker.io or quay.io/team.',
          },
          to: {
            type: 'string',
            minLength: 1,
            maxLength: 512,
            description: 'What replaces it, such as harbor.local/docker.',
          },
        },
      },
    },
    fields: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      description:
        "Where objects of other kinds than Kubernetes' own name images. Lists called containers, initContainers and ephemeralContainers are known in any kind.",
      items: {
        type: 'object',
        required: ['kind', 'path'],
        properties: {
          apiVersion: {
            type: 'string',
            minLength: 1,
            maxLength: 253,
            description: 'Such as monitoring.coreos.com/v1. Absent: any.',
          },
          kind: { type: 'string', minLength: 1, maxLength: 63, description: 'Such as Prometheus.' },
          path: {
            type: 'string',
            maxLength: 512,
            description: 'JSON pointer to the image, such as /spec/image. * stands for every item of a list or map.',
            'x-kubernetes-validations': [
              {
                rule: `self.matches('^${JSON_POINTER}$')`,
                message: 'must be a JSON pointer such as /spec/image or /spec/nodes/*/image',
              },
            ],
          },
          registry: { ...BESIDE, description: 'Field beside that holds the registry, where path holds a name alone.' },
          tag: { ...BESIDE, description: 'Field beside that holds the tag.' },
          digest: { ...BESIDE, description: 'Field beside that holds the digest.' },
        },
      },
    },
    report: {
      type: 'boolean',
      default: true,
      description: 'Name images that neither a rule nor values.imageRegistry leads elsewhere, where there is one.',
    },
  },
} as const satisfies Schema;

const PRUNE = {
  type: 'object',
  default: {},
  properties: {
    enabled: { type: 'boolean', default: true, description: 'Remove what the repository no longer declares.' },
    hold: {
      type: 'object',
      default: {},
      description: 'Removals as large as this wait until a person approves the commit.',
      properties: {
        percent: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 50,
          description: 'More than this share of what is declared.',
        },
        count: { type: 'integer', minimum: 0, default: 20, description: 'More than this number of objects.' },
      },
    },
  },
} as const satisfies Schema;

const FORGE_NAME = {
  type: 'string',
  minLength: 1,
  maxLength: 63,
  'x-kubernetes-validations': [
    {
      rule: "self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",
      message: 'must be letters, digits, dots, dashes and underscores, such as prod-eu',
    },
  ],
} as const satisfies Schema;

const FORGE = {
  type: 'object',
  required: ['kind', 'secretRef'],
  properties: {
    kind: {
      type: 'string',
      enum: ['github', 'gitlab', 'gitea', 'forgejo', 'bitbucket'],
      description: 'Which forge hosts the repository.',
    },
    url: { ...HTTP_URL, description: 'URL of the forge. Absent: the host of the repository.' },
    secretRef: {
      ...SECRET_REF,
      description:
        'Secret in the namespace of the Sync: its key token holds an access token, its key webhookSecret what webhooks are signed with.',
    },
    name: {
      ...FORGE_NAME,
      description:
        'What this cluster is called in commit statuses: espalier/<name>. Absent: the name of the cluster, else that of the Sync.',
    },
    statuses: { type: 'boolean', default: true, description: 'Answer each commit with a commit status.' },
    pluginStatuses: {
      type: 'boolean',
      default: false,
      description: 'Answer with one more status for each Plugin, on the commit that last touched what it is made of.',
    },
    previews: {
      type: 'boolean',
      default: true,
      description: 'Write on each pull request what it would change in this cluster.',
    },
    forks: {
      type: 'string',
      enum: ['never', 'asked'],
      default: 'never',
      description:
        'Pull requests from other repositories. never: left alone. asked: planned when somebody who may push comments "/espalier plan", for that commit alone, without credentials or network.',
    },
    previewServiceAccountName: {
      ...NAME_FIELD,
      description:
        "Service account in the Sync's namespace whose rights rendering for pull requests has. Absent: those of each Plugin; for forks none.",
    },
  },
} as const satisfies Schema;

export const SYNC_SPEC = {
  type: 'object',
  required: ['repository'],
  description: 'What to follow, and what it may do.',
  properties: {
    repository: REPOSITORY,
    poll: {
      ...SCHEDULE_FIELD,
      default: '1m',
      description:
        'How often to look for new commits: a duration such as 30s, or a cron expression. A webhook makes it immediate.',
    },
    cluster: {
      type: 'object',
      default: {},
      description: 'What this cluster is called; picks the overlays below clusters/.',
      properties: {
        name: { ...NAME_FIELD, description: 'Name of this cluster: overlays in clusters/<name>/ apply.' },
        labels: {
          ...LABELS_FIELD,
          default: {},
          description:
            'Labels of this cluster: overlays in clusters/_<label>=<value>/ apply, and Plugins can ask for them in `when`.',
        },
      },
    },
    values: {
      ...FREE_FORM,
      description: 'Values for every Plugin: .Values.global in charts, parameters in templates.',
    },
    images: { ...IMAGES, description: 'Where images come from.' },
    prune: { ...PRUNE, description: 'What happens to what leaves the repository.' },
    forge: { ...FORGE, description: 'The forge that answers are written to.' },
    serviceAccountName: {
      ...NAME_FIELD,
      description:
        "Service account in the Sync's namespace whose rights its Plugins have, unless they name their own. Absent: the agent's own rights.",
    },
    allowedNamespaces: {
      type: 'array',
      maxItems: 500,
      'x-kubernetes-list-type': 'set',
      items: LABEL_NAME_FIELD,
      description: 'Namespaces that its Plugins may live in and install to. Absent: all.',
    },
    expansions: {
      type: 'object',
      default: {},
      description: 'What expansion packages may do.',
      properties: {
        delegateConditions: {
          type: 'array',
          maxItems: 100,
          'x-kubernetes-list-type': 'set',
          items: {
            type: 'string',
            minLength: 1,
            maxLength: 128,
            'x-kubernetes-validations': [
              {
                rule: "self.matches('^[A-Za-z][A-Za-z0-9]*$')",
                message: 'must be the name of a condition: letters and digits, such as EnsureKubelet',
              },
            ],
          },
          description:
            'Conditions that the operator of a package may be left to make true (create_cluster_delegate_conditions). Absent: none.',
        },
      },
    },
    compat: {
      type: 'object',
      default: {},
      description: "Other systems' objects in the cluster that are looked after as Plugins.",
      properties: {
        kubegems: {
          type: 'boolean',
          default: false,
          description:
            'Serve the kind Plugin of plugins.kubegems.io, and install what its objects say, with the values, images and account of this Sync. KubeGems itself must not run beside.',
        },
      },
    },
    suspend: {
      type: 'boolean',
      default: false,
      description: 'true stops following the repository. What is installed stays as it is.',
    },
  },
} as const satisfies Schema;

export type SyncSpec = Complete<typeof SYNC_SPEC>;

export interface Sync extends KubeObject {
  kind: 'Sync';
  spec: SyncSpec;
  status?: SyncStatus;
}

/** A Sync as people write it, without the defaults. */
export interface SyncDeclaration extends KubeObject {
  kind: 'Sync';
  spec: Written<typeof SYNC_SPEC>;
}
