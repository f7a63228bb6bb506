import { GROUP, groupOf, type JsonObject, type Violation } from '../api/index.ts';
import { KUBEGEMS_GROUP, type KubegemsSpec } from './kubegems-kind.ts';

type Dependency = NonNullable<KubegemsSpec['dependencies']>[number];

/** What people name in dependencies without its API version, as KubeGems lets them. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  v1: ['ConfigMap', 'Secret', 'Service', 'ServiceAccount', 'PersistentVolumeClaim', 'Pod'],
  'apps/v1': ['Deployment', 'StatefulSet', 'DaemonSet'],
  'batch/v1': ['Job', 'CronJob'],
  'networking.k8s.io/v1': ['Ingress'],
};
const KNOWN_CLUSTER_WIDE: Readonly<Record<string, readonly string[]>> = {
  v1: ['Namespace', 'Node', 'PersistentVolume'],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apiregistration.k8s.io/v1': ['APIService'],
  'networking.k8s.io/v1': ['IngressClass'],
  'storage.k8s.io/v1': ['StorageClass'],
};

/** One dependency as our Plugin says it. A bare name is that of a Plugin. */
export function dependencyOf(dependency: Dependency, index: number): { needs: JsonObject } | { fault: Violation } {
  const { kind, name, namespace } = dependency;
  const where = namespace === undefined ? {} : { namespace };
  const group = dependency.apiVersion === undefined ? undefined : groupOf(dependency.apiVersion);
  const isPlugin = kind === 'Plugin' && (group === undefined || group === KUBEGEMS_GROUP || group === GROUP);
  if (kind === undefined || isPlugin) return { needs: { name, ...where } };
  const clusterWide = apiVersionIn(KNOWN_CLUSTER_WIDE, kind);
  const apiVersion = dependency.apiVersion ?? clusterWide ?? apiVersionIn(KNOWN, kind);
  if (apiVersion !== undefined)
    return { needs: { apiVersion, kind, name, ...(apiVersion === clusterWide ? {} : where) } };
  const expected = `the API version of kind ${kind}, such as apps/v1`;
  const field = `spec.dependencies[${index}].apiVersion`;
  const path = `/spec/dependencies/${index}/apiVersion`;
  return { fault: { path, message: `${field} is missing, expected ${expected}`, expected } };
}

function apiVersionIn(known: Readonly<Record<string, readonly string[]>>, kind: string): string | undefined {
  return Object.entries(known).find(([, kinds]) => kinds.includes(kind))?.[0];
}
