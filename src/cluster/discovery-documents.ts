import { isRecord } from './json.ts';
import type { ApiResource } from './kubeclient.ts';

/** One group version as the API server tells it. `failing` when what it serves can't be known now. */
export interface GroupVersion {
  apiVersion: string;
  resources: ApiResource[];
  failing: boolean;
}

export const AGGREGATED_ACCEPT = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** Reads an APIGroupDiscoveryList; undefined when the server answered in the older form. */
export function readAggregated(document: unknown): GroupVersion[] | undefined {
  if (!isRecord(document) || document.kind !== 'APIGroupDiscoveryList') return undefined;
  return records(document.items).flatMap((group) => {
    const name = isRecord(group.metadata) ? text(group.metadata.name) : '';
    return records(group.versions).map((version) => {
      const apiVersion = name === '' ? text(version.version) : `${name}/${text(version.version)}`;
      return {
        apiVersion,
        // A broken aggregated API stays listed with what was last known of it, often nothing, and is marked stale.
        failing: version.freshness === 'Stale',
        resources: records(version.resources).map((resource) => readAggregatedResource(apiVersion, resource)),
      };
    });
  });
}

function readAggregatedResource(apiVersion: string, resource: Record<string, unknown>): ApiResource {
  return {
    apiVersion,
    kind: isRecord(resource.responseKind) ? text(resource.responseKind.kind) : '',
    plural: text(resource.resource),
    namespaced: resource.scope === 'Namespaced',
    verbs: texts(resource.verbs),
    subresources: records(resource.subresources).map((each) => text(each.subresource)),
    shortNames: texts(resource.shortNames),
  };
}

/** Reads an APIResourceList of the older form; undefined when it is none. */
export function readResourceList(apiVersion: string, document: unknown): ApiResource[] | undefined {
  if (!isRecord(document) || document.kind !== 'APIResourceList') return undefined;
  const entries = records(document.resources);
  return entries
    .filter((entry) => !text(entry.name).includes('/'))
    .map((entry) => {
      const plural = text(entry.name);
      return {
        apiVersion,
        kind: text(entry.kind),
        plural,
        namespaced: entry.namespaced === true,
        verbs: texts(entry.verbs),
        subresources: entries
          .map((each) => text(each.name))
          .filter((name) => name.startsWith(`${plural}/`))
          .map((name) => name.slice(plural.length + 1)),
        shortNames: texts(entry.shortNames),
      };
    });
}

/** The group versions of an APIVersions (core) or APIGroupList document of the older form. */
export function readGroupVersions(document: unknown): string[] | undefined {
  if (!isRecord(document)) return undefined;
  if (document.kind === 'APIVersions') return texts(document.versions);
  if (document.kind !== 'APIGroupList') return undefined;
  return records(document.groups).flatMap((group) =>
    records(group.versions).map((version) => text(version.groupVersion)),
  );
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
