import type { ReadPath, ViewAnswer } from '../render/cluster-view.ts';

/** What charts are told to find where there is no cluster: the groups that a plain Kubernetes serves. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io': ['v1'],
  'apiextensions.k8s.io': ['v1'],
  'apiregistration.k8s.io': ['v1'],
  apps: ['v1'],
  'authentication.k8s.io': ['v1'],
  'authorization.k8s.io': ['v1'],
  autoscaling: ['v2', 'v1'],
  batch: ['v1'],
  'certificates.k8s.io': ['v1'],
  'coordination.k8s.io': ['v1'],
  'discovery.k8s.io': ['v1'],
  'events.k8s.io': ['v1'],
  'flowcontrol.apiserver.k8s.io': ['v1'],
  'networking.k8s.io': ['v1'],
  'node.k8s.io': ['v1'],
  policy: ['v1'],
  'rbac.authorization.k8s.io': ['v1'],
  'scheduling.k8s.io': ['v1'],
  'storage.k8s.io': ['v1'],
};
const DEFAULT_VERSION = 'v1.36.0';

/** Answers Helm's questions about a cluster that does not exist. */
export function offlineDiscovery(kubernetes = DEFAULT_VERSION): ReadPath {
  const gitVersion = kubernetes.startsWith('v') ? kubernetes : `v${kubernetes}`;
  const [major = '1', minor = '0'] = gitVersion.slice(1).split('.');
  return async (path) => {
    const { pathname } = new URL(path, 'http://view');
    if (pathname === '/version') return answer({ major, minor, gitVersion });
    if (pathname === '/api') return answer({ kind: 'APIVersions', versions: ['v1'] });
    if (pathname === '/apis')
      return answer({ kind: 'APIGroupList', apiVersion: 'v1', groups: Object.keys(GROUPS).map(groupOf) });
    const groupVersion = pathname.replace(/^\/apis?\//, '');
    const resources = groupVersion === 'v1' ? [CONFIG_MAPS] : [];
    return answer({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });
  };
}

/** Helm wants to know where the object lives that stands in for the captured stream. */
const CONFIG_MAPS = {
  name: 'configmaps',
  singularName: 'configmap',
  namespaced: true,
  kind: 'ConfigMap',
  verbs: ['get', 'list'],
};

function groupOf(name: string) {
  const versions = (GROUPS[name] ?? []).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function answer(body: object): ViewAnswer {
  return { status: 200, body: JSON.stringify(body) };
}
