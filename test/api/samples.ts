import type {
  ExtensionDeclaration,
  ExtensionInstanceDeclaration,
  PluginDeclaration,
  SyncDeclaration,
} from '../../src/api/index.ts';

const API = 'espalier.dev/v1alpha1';
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

const TARGET = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  name: 'cert-manager',
  namespace: 'cert-manager',
  labelSelector: 'app=web,tier!=test',
};

const GIT = {
  path: 'manifests/web',
  url: 'git@git.example.com:platform/web.git',
  ref: { tag: 'v1.2.3' },
  secretRef: { name: 'web-git' },
  template: true,
  tree: COMMIT,
  commit: COMMIT,
};

const INSIDE = 'charts/web-1.0.0.tgz';

const REFS = [{ branch: 'main' }, { tag: 'v1.2.3' }, { semver: '>=1.2 <2' }, { commit: COMMIT }];

/** Valid objects that between them set every field which people may write. A test fails when one is missing. */

export const SYNC: SyncDeclaration = {
  apiVersion: API,
  kind: 'Sync',
  metadata: { name: 'platform', labels: { team: 'platform' }, annotations: { 'example.com/note': 'anything at all' } },
  spec: {
    repository: {
      url: 'https://git.example.com/platform/addons.git',
      ref: { branch: 'main' },
      path: 'clusters/all',
      secretRef: { name: 'git-credentials' },
      caRef: { kind: 'ConfigMap', name: 'company-ca', key: 'ca.pem' },
      proxy: 'http://proxy.example.com:3128',
      timeout: '30s',
    },
    poll: '*/1 * * * *',
    cluster: { name: 'prod-eu', labels: { region: 'eu', tier: 'prod' } },
    values: { imageRegistry: 'harbor.local', nested: { list: [1, 'two', null, { three: true }] } },
    images: {
      rewrite: [{ from: 'docker.io', to: 'harbor.local/docker' }],
      fields: [
        { apiVersion: 'monitoring.coreos.com/v1', kind: 'Prometheus', path: '/spec/image' },
        { kind: 'Cache', path: '/spec/nodes/*/image/name', registry: 'registry', tag: 'tag', digest: 'digest' },
      ],
      report: true,
    },
    prune: { enabled: true, hold: { percent: 50, count: 20 } },
    forge: {
      kind: 'gitea',
      url: 'https://git.example.com',
      secretRef: { name: 'forge-token' },
      name: 'prod-eu',
      statuses: true,
      pluginStatuses: true,
      previews: true,
      forks: 'asked',
      previewServiceAccountName: 'previews',
    },
    serviceAccountName: 'platform-admin',
    allowedNamespaces: ['espalier-system', 'web'],
    expansions: { delegateConditions: ['EnsureKubelet'] },
    compat: { kubegems: true },
    suspend: false,
  },
};

/** What a chart from a server may be held to. */
const TRUST = {
  digest: `sha256:${'0a'.repeat(32)}`,
  secretRef: { name: 'charts' },
  verify: { provider: 'provenance', secretRef: { name: 'chart-keys' } },
} as const;

export const PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'cert-manager' },
  spec: {
    enabled: true,
    suspend: false,
    kind: 'helm',
    source: {
      chart: {
        repository: 'https://charts.example.com',
        name: 'cert-manager',
        version: '~1.18',
        ...TRUST,
      },
    },
    poll: '10m',
    namespace: { name: 'cert-manager', create: true },
    defaults: { installCRDs: false },
    schema: { type: 'object', properties: { installCRDs: { type: 'boolean' } } },
    parameters: { installCRDs: false },
    values: { installCRDs: true },
    valuesFrom: [{ kind: 'Secret', name: 'cm-values', key: 'values.yaml', prefix: 'a.b', optional: true }],
    patches: [
      {
        target: TARGET,
        merge: { spec: { replicas: 2, paused: null } },
      },
    ],
    dependsOn: [
      { name: 'prometheus-crds', namespace: 'monitoring' },
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: 'x.example.com',
        ready: "status.conditions.exists(c, c.type == 'Established')",
      },
      { apiVersion: 'v1', kind: 'Node', all: true, labels: { 'example.com/pool': 'storage' } },
    ],
    gates: [
      { apiVersion: 'v1', kind: 'Pod', name: 'n1', namespace: 'web', condition: 'Ready', timeout: '1h' },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'demo-delegated-v1.0',
        condition: 'EnsureKubelet',
        by: 'operator demo-operator',
      },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'system:node', condition: 'Ready' },
    ],
    when: {
      kubernetes: '>=1.29 <2',
      cluster: { tier: 'prod' },
      window: { cron: '0 2 * * sat,sun', for: '2h', timezone: 'Europe/Berlin' },
    },
    health: [{ apiVersion: 'cert-manager.io/v1', kind: 'Certificate', name: 'web', ready: 'true' }],
    apply: { adopt: true, force: true },
    drift: {
      mode: 'repair',
      ignore: [{ target: TARGET, paths: ['/spec/replicas', '/metadata/annotations/example.com~1key'] }],
    },
    deletion: { policy: 'delete', crds: 'keep', namespaces: 'keep', volumes: 'delete' },
    upgrade: { crds: 'replace', approval: 'auto', onFailure: 'rollback', test: true },
    timeout: '5m',
    allowEmpty: false,
    serviceAccountName: 'cert-manager-installer',
  },
};

export const GIT_PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'web' },
  spec: {
    kind: 'manifests',
    source: {
      git: GIT,
    },
  },
};

export const OCI_PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'ingress' },
  spec: {
    kind: 'template',
    source: {
      oci: {
        url: 'oci://registry.example.com/charts/ingress',
        version: '1.18.x',
        inside: INSIDE,
        ...TRUST,
        verify: { provider: 'cosign', secretRef: { name: 'chart-keys' } },
      },
    },
  },
};

/** A chart of a package that is a .tgz. */
export const INSIDE_PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'demo-web' },
  spec: { kind: 'helm', source: { git: { path: 'packages/demo-v1.0.tgz', inside: INSIDE } } },
};

export const EXPANSION_PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'demo' },
  spec: {
    kind: 'expansion',
    step: 'pre-install',
    source: { oci: { url: 'oci://registry.example.com/packages/demo', version: 'v1.0' } },
    expansion: {
      conditionsOn: { apiVersion: 'platform.tkestack.io/v1', kind: 'Cluster', name: 'global', namespace: 'platform' },
      clusterRole: 'expansions',
    },
  },
};

export const KUSTOMIZE_PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'storage' },
  spec: {
    kind: 'kustomize',
    source: { git: { path: '.', url: 'ssh://git@git.example.com/storage.git', ref: { semver: '>=1.2 <2' } } },
    drift: { ignore: [{ target: TARGET, paths: ['/spec'] }] },
  },
};

const DOWNLOAD = {
  url: 'https://example.com/releases/v1.2.3/manifests.zip',
  path: 'manifests',
  digest: TRUST.digest,
  secretRef: { name: 'downloads' },
  template: true,
};

export const DOWNLOAD_PLUGIN: PluginDeclaration = {
  apiVersion: API,
  kind: 'Plugin',
  metadata: { name: 'gateway-api' },
  spec: { kind: 'manifests', source: { download: DOWNLOAD } },
};

export const COMMIT_SYNC: SyncDeclaration = {
  apiVersion: API,
  kind: 'Sync',
  metadata: { name: 'pinned' },
  spec: { repository: { url: 'http://127.0.0.1:3000/platform.git', ref: { commit: COMMIT } } },
};

export const EXTENSION: ExtensionDeclaration = {
  apiVersion: API,
  kind: 'Extension',
  metadata: { name: 'kubecarrier' },
  spec: {
    displayName: 'KubeCarrier',
    category: 'Service hub',
    logo: 'logos/kubecarrier.svg',
    description: 'Manages services across clusters.',
    class: 'accessible',
    when: { cluster: { tier: 'prod' } },
    parameters: { type: 'object', properties: { replicas: { type: 'integer', minimum: 1, default: 1 } } },
    plugin: { kind: 'helm', ...templateOf(PLUGIN), upgrade: { crds: 'skip' } },
    dependsOn: ['cert-manager'],
    versions: [
      {
        app: 'v0.3.0',
        kubernetes: '>=1.19 <1.20',
        source: {
          oci: {
            url: 'oci://registry.example.com/extensions/kubecarrier',
            version: '1.19.0',
            inside: INSIDE,
            ...TRUST,
          },
        },
        from: '>=0.2',
        deprecated: 'Has known faults; use v0.4.0.',
      },
      { tagsFollow: 'kubernetes', source: { oci: { url: 'oci://registry.example.com/extensions/kubecarrier' } } },
      {
        app: 'v0.1.0',
        source: { chart: { repository: 'https://charts.example.com', name: 'kubecarrier', version: '1', ...TRUST } },
      },
      { app: 'v0.1.1', source: { download: DOWNLOAD } },
      ...REFS.map((ref) => ({ app: 'v0.2.0', source: { git: { ...GIT, inside: INSIDE, ref } } })),
    ],
  },
};

/** The fields that an Extension may say for the Plugins of its instances. */
function templateOf({ spec }: PluginDeclaration) {
  const { namespace, patches, gates, health, apply, drift, deletion, timeout, serviceAccountName } = spec;
  const fields = { namespace, patches, gates, health, apply, drift, deletion, timeout, serviceAccountName };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export const INSTANCE: ExtensionInstanceDeclaration = {
  apiVersion: API,
  kind: 'ExtensionInstance',
  metadata: { name: 'kubecarrier' },
  spec: {
    extension: 'kubecarrier',
    enabled: true,
    version: 'auto',
    parameters: { replicas: 2 },
    valuesFrom: [{ kind: 'Secret', name: 'kc-values', key: 'values.yaml', prefix: 'a.b', optional: true }],
    upgrade: { approval: 'required', window: { cron: '@weekly', for: '4h', timezone: 'UTC' } },
  },
};

/** Every way to name a commit, in both kinds that follow a repository. */
const FOLLOWERS = REFS.flatMap((ref): [SyncDeclaration, PluginDeclaration] => {
  const [way = ''] = Object.keys(ref);
  const { url } = GIT;
  return [
    { ...COMMIT_SYNC, metadata: { name: `by-${way}` }, spec: { repository: { url, ref } } },
    { ...GIT_PLUGIN, metadata: { name: `by-${way}` }, spec: { ...GIT_PLUGIN.spec, source: { git: { ...GIT, ref } } } },
  ];
});

export const SAMPLES = [
  SYNC,
  PLUGIN,
  GIT_PLUGIN,
  OCI_PLUGIN,
  INSIDE_PLUGIN,
  EXPANSION_PLUGIN,
  KUSTOMIZE_PLUGIN,
  DOWNLOAD_PLUGIN,
  EXTENSION,
  INSTANCE,
  ...FOLLOWERS,
];
