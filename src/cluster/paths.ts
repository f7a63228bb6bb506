import { EspalierError } from '../api/index.ts';
import { versionPath } from './discovery.ts';
import type { ApiResource } from './kubeclient.ts';

/** The path of a collection: of one namespace, of the cluster, or over all namespaces. */
export function collectionPath(resource: ApiResource, namespace: string | undefined): string {
  const root = versionPath(resource.apiVersion);
  return resource.namespaced && namespace !== undefined
    ? `${root}/namespaces/${segment(namespace)}/${resource.plural}`
    : `${root}/${resource.plural}`;
}

/** The path of an object. A namespace given for a cluster-scoped kind is ignored, as the API server does. */
export function objectPath(
  resource: ApiResource,
  namespace: string | undefined,
  name: string,
  subresource?: string,
): string {
  if (resource.namespaced && (namespace === undefined || namespace === '')) {
    throw new EspalierError('KubeInvalid', `${resource.kind} ${name} needs a namespace: its kind is namespaced`, {
      retry: false,
      data: { apiVersion: resource.apiVersion, kind: resource.kind, name },
    });
  }
  const path = `${collectionPath(resource, namespace)}/${segment(name)}`;
  return subresource === undefined ? path : `${path}/${segment(subresource)}`;
}

/** A name such as `..` would climb to another object: the API server refuses these too. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) {
    throw new EspalierError('KubeInvalid', `"${name}" can't be the name of an object`, { retry: false });
  }
  return encodeURIComponent(name);
}
