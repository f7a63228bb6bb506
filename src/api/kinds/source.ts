import { PATH } from '../patterns.ts';
import type { Complete, Schema } from '../schema.ts';
import { GIT_REF, OBJECT_ID_FIELD, PATH_FIELD, RANGE_FIELD, SECRET_REF } from './parts.ts';

/** `ssh://…`, `https://…` and `user@host:path`; nothing that makes Git run a program or read a local file. */
export const GIT_URL = {
  type: 'string',
  minLength: 1,
  maxLength: 2048,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^((https?|ssh)://[^ /]+/?[^ ]*|[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^ ]+)$')`,
      message: 'must be a Git URL that begins with https:// or ssh:// (or git@host:path)',
    },
  ],
} as const satisfies Schema;

const DIGEST = {
  type: 'string',
  maxLength: 71,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^sha256:[0-9a-f]{64}$')`,
      message: 'must be a digest: sha256: and 64 hexadecimal digits, as sha256sum or helm push prints them',
    },
  ],
} as const satisfies Schema;

const CHART_SECRET_KEYS = 'keys username and password, or bearerToken; ca.crt; tls.crt and tls.key';

/** One file of what a source names. */
const INSIDE = {
  ...PATH_FIELD,
  'x-kubernetes-validations': [
    {
      rule: `self.matches('^${PATH}$')`,
      message: 'must be a path inside such as charts/web-1.0.0.tgz: no leading slash, no ".."',
    },
  ],
} as const satisfies Schema;

/** Who must have signed a chart. */
export const CHART_VERIFY = {
  type: 'object',
  required: ['provider', 'secretRef'],
  properties: {
    provider: {
      type: 'string',
      enum: ['provenance', 'cosign'],
      description:
        'provenance: the .prov file of helm package --sign, with PGP keys. cosign: a signature in the registry, with public keys.',
    },
    secretRef: {
      ...SECRET_REF,
      description:
        "Secret in the Plugin's namespace with the public keys, one or more under any names; a signature by one of them is enough.",
    },
  },
} as const satisfies Schema;

export const CHART_SOURCE = {
  type: 'object',
  required: ['repository', 'name'],
  description: 'A chart from a Helm repository.',
  properties: {
    repository: {
      type: 'string',
      minLength: 1,
      maxLength: 2048,
      description: 'URL of the Helm repository, such as https://charts.example.com.',
      'x-kubernetes-validations': [
        {
          rule: `self.matches('^https?://[^ /]+/?[^ ]*$')`,
          message: 'must be the URL of a Helm repository, beginning with https:// (for oci:// use source.oci)',
        },
      ],
    },
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 250,
      description: 'Name of the chart in that repository.',
      'x-kubernetes-validations': [
        {
          rule: `self.matches('^[A-Za-z0-9][A-Za-z0-9._-]*$')`,
          message: 'must be the name of a chart: letters, digits, "-", "_" and "."',
        },
      ],
    },
    version: {
      ...RANGE_FIELD,
      description: 'Version, or range whose highest version is taken. Absent: the latest stable one.',
    },
    digest: { ...DIGEST, description: 'What the archive must be, whoever gives it: sha256:… of the .tgz.' },
    secretRef: {
      ...SECRET_REF,
      description: `Secret in the Plugin's namespace with credentials for the repository (${CHART_SECRET_KEYS}).`,
    },
    verify: { ...CHART_VERIFY, description: 'Take the chart only when it is signed.' },
  },
  'x-kubernetes-validations': [
    {
      rule: `!has(self.verify) || self.verify.provider == 'provenance'`,
      message: 'verify.provider must be provenance: Cosign signs charts in OCI registries only',
    },
  ],
} as const satisfies Schema;

export const OCI_SOURCE = {
  type: 'object',
  required: ['url'],
  description: 'A chart from an OCI registry.',
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      maxLength: 2048,
      description: 'Where the chart is, without its tag, such as oci://registry.example.com/charts/web.',
      'x-kubernetes-validations': [
        {
          rule: `self.matches('^oci://[^ /]+/[^ ]+$')`,
          message: 'must be a URL such as oci://registry.example.com/charts/web',
        },
      ],
    },
    version: {
      ...RANGE_FIELD,
      description:
        'Tag, or range whose highest tag is taken; a tag of exactly that name, such as v1.34, comes first. Absent: the latest stable one.',
    },
    digest: {
      ...DIGEST,
      description:
        'What the chart must be, whoever gives it: the digest of the manifest, as helm push prints it, or of the .tgz.',
    },
    inside: {
      ...INSIDE,
      description:
        'The chart inside an artifact of several files, by its title, such as charts/web-1.0.0.tgz in an expansion package. Absent: the artifact is the chart.',
    },
    secretRef: {
      ...SECRET_REF,
      description: `Secret in the Plugin's namespace with credentials for the registry (${CHART_SECRET_KEYS}; or .dockerconfigjson).`,
    },
    verify: { ...CHART_VERIFY, description: 'Take the chart only when it is signed.' },
  },
} as const satisfies Schema;

export const GIT_SOURCE = {
  type: 'object',
  required: ['path'],
  description: "A folder in Git: in the Sync's own repository and commit, unless `url` says otherwise.",
  properties: {
    path: {
      ...PATH_FIELD,
      description:
        'The folder, from the root of the repository; a single file is fine for manifests, charts and expansion packages.',
    },
    url: { ...GIT_URL, description: "URL of another repository. Absent: the Sync's own, at the Sync's commit." },
    ref: { ...GIT_REF, description: 'What to follow in the other repository. Absent: its default branch.' },
    secretRef: {
      ...SECRET_REF,
      description:
        "Secret in the Plugin's namespace with credentials for the other repository (keys username and password, bearerToken, or identity and known_hosts).",
    },
    inside: {
      ...INSIDE,
      description:
        'The chart inside the .tgz that path names, such as charts/web-1.0.0.tgz in an expansion package. Absent: the path is the chart.',
    },
    template: {
      type: 'boolean',
      default: false,
      description: 'The files are Go templates with bare parameters such as {{ .name }}, filled from the values.',
    },
    tree: { ...OBJECT_ID_FIELD, description: 'Git object id of the path. Written by the Sync, not by people.' },
    commit: {
      ...OBJECT_ID_FIELD,
      description: 'Commit that last touched the path. Written by the Sync, not by people.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.ref) || has(self.url)',
      message: 'ref needs url: without url the folder is read at the commit of the Sync',
    },
    {
      rule: '!has(self.secretRef) || has(self.url)',
      message: "secretRef needs url: without url the Sync's credentials are used",
    },
  ],
} as const satisfies Schema;

export const DOWNLOAD_SOURCE = {
  type: 'object',
  required: ['url'],
  description:
    'A file from a web server: a .tgz or .zip with a chart (kinds helm and template) or a folder (kinds kustomize and manifests), or one file of YAML or JSON (kind manifests).',
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      maxLength: 2048,
      description: 'Where the file is, such as https://example.com/releases/v1.2.3/install.yaml.',
      'x-kubernetes-validations': [
        {
          rule: `self.matches('^https?://[^ /]+/[^ ]+$')`,
          message: 'must be the URL of a file, beginning with https://',
        },
      ],
    },
    path: {
      ...PATH_FIELD,
      'x-kubernetes-validations': [
        {
          rule: `self.matches('^${PATH}$')`,
          message: 'must be a path inside the archive such as charts/web: no leading slash, no ".."',
        },
      ],
      description:
        'The folder of the chart, kustomization or manifests inside the archive; a single file is fine for manifests. Absent: all of it, or the one folder that it holds.',
    },
    digest: {
      ...DIGEST,
      description: 'What the file must be, whoever gives it: sha256:…, as sha256sum prints it.',
    },
    secretRef: {
      ...SECRET_REF,
      description: `Secret in the Plugin's namespace with credentials for the server (${CHART_SECRET_KEYS}).`,
    },
    template: {
      type: 'boolean',
      default: false,
      description: 'The files are Go templates with bare parameters such as {{ .name }}, filled from the values.',
    },
  },
} as const satisfies Schema;

export const SOURCE = {
  type: 'object',
  properties: { chart: CHART_SOURCE, oci: OCI_SOURCE, git: GIT_SOURCE, download: DOWNLOAD_SOURCE },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.chart) ? 1 : 0) + (has(self.oci) ? 1 : 0) + (has(self.git) ? 1 : 0) + (has(self.download) ? 1 : 0) == 1',
      message: 'must have exactly one of chart, oci, git and download',
    },
  ],
} as const satisfies Schema;

export type Source = Complete<typeof SOURCE>;
export type GitSource = Complete<typeof GIT_SOURCE>;
export type ChartSource = Complete<typeof CHART_SOURCE>;
export type OciSource = Complete<typeof OCI_SOURCE>;
export type DownloadSource = Complete<typeof DOWNLOAD_SOURCE>;
