import type { KubeObject } from '../api/index.ts';
import type { ReadPath } from './cluster-view.ts';

interface Served {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  namespaced: boolean;
}

interface AggregatedGroup {
  metadata: { name: string };
  versions: { version: string; resources: object[] }[];
}

/**
 * Discovery as it will be once these definitions are there: Helm installs what a chart's crds folder holds before it
 * renders, and templates may ask for it.
 */
export function withKinds(discovery: ReadPath, definitions: readonly KubeObject[]): ReadPath {
  const served = definitions.flatMap(servedBy);
  if (served.length === 0) return discovery;
  return async (path, accept) => {
    const answer = await discovery(path, accept);
    const { pathname } = new URL(path, 'http://view');
    const [, group, version] = /^\/apis\/([^/]+)\/([^/]+)$/.exec(pathname) ?? [];
    const own = served.filter((one) => one.group === group && one.version === version);
    if (own.length > 0 && answer.status === 404)
      return { status: 200, body: JSON.stringify(resourceList(`${group}/${version}`, own)) };
    if (pathname !== '/apis' || answer.status !== 200) return answer;
    const list = JSON.parse(answer.body) as { kind?: string; items?: AggregatedGroup[]; groups?: object[] };
    const { items = [], groups = [] } = list;
    if (list.kind !== 'APIGroupDiscoveryList')
      return { status: 200, body: JSON.stringify({ ...list, groups: [...groups, ...groupsOf(served)] }) };
    for (const one of served) addAggregated(items, one);
    return { status: 200, body: JSON.stringify({ ...list, items }) };
  };
}

function servedBy({ kind, spec }: KubeObject): Served[] {
  if (kind !== 'CustomResourceDefinition') return [];
  const {
    group = '',
    scope,
    names,
    versions,
  } = (spec ?? {}) as {
    group?: string;
    scope?: string;
    names?: { kind?: string; plural?: string; singular?: string };
    versions?: { name: string; served?: boolean }[];
  };
  return (versions ?? [])
    .filter((version) => version.served !== false)
    .map(({ name }) => ({
      group,
      version: name,
      kind: names?.kind ?? '',
      plural: names?.plural ?? '',
      singular: names?.singular ?? (names?.kind ?? '').toLowerCase(),
      namespaced: scope !== 'Cluster',
    }));
}

function addAggregated(items: AggregatedGroup[], { group, version, kind, plural, singular, namespaced }: Served): void {
  const known = items.find(({ metadata }) => metadata.name === group) ?? { metadata: { name: group }, versions: [] };
  if (!items.includes(known)) items.push(known);
  const at = known.versions.find((one) => one.version === version) ?? { version, resources: [] };
  if (!known.versions.includes(at)) known.versions.push(at);
  at.resources.push({
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: ['get', 'list'],
  });
}

function groupsOf(served: readonly Served[]): object[] {
  return [...new Set(served.map(({ group }) => group))].map((name) => {
    const versions = [...new Set(served.filter(({ group }) => group === name).map(({ version }) => version))];
    const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: entries, preferredVersion: entries[0] };
  });
}

function resourceList(groupVersion: string, served: readonly Served[]): object {
  const resources = served.map(({ plural, singular, namespaced, kind }) => ({
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: ['get', 'list'],
  }));
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}
