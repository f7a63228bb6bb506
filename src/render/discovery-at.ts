import type { KubeObject } from '../api/index.ts';
import type { ReadPath } from './cluster-view.ts';
import { withKinds } from './discovery-with.ts';

/** Another release of Kubernetes than the one that answers. */
export interface OtherRelease {
  /** Such as `v1.37.0`. */
  gitVersion: string;
  serves(apiVersion: string, kind: string): boolean;
  /** What it serves and the one that answers may not. */
  brings: readonly { apiVersion: string; kind: string }[];
}

interface Groups {
  kind?: string;
  items?: { metadata: { name: string }; versions: { version: string; resources: Resource[] }[] }[];
  resources?: { kind: string }[];
}

interface Resource {
  responseKind?: { kind: string };
}

/** Discovery as it will be once the API server is of another release: charts render by what it says. */
export function discoveryAt(discovery: ReadPath, release: OtherRelease): ReadPath {
  const trimmed: ReadPath = async (path, accept) => {
    const answer = await discovery(path, accept);
    if (answer.status !== 200) return answer;
    const { pathname } = new URL(path, 'http://view');
    if (pathname === '/version') return { status: 200, body: JSON.stringify(versionAnswer(answer.body, release)) };
    const [, apiVersion] = /^\/apis?\/(.+)$/.exec(pathname) ?? [];
    const list = JSON.parse(answer.body) as Groups;
    const { items, resources } = list;
    if (apiVersion !== undefined && resources !== undefined) {
      const left = resources.filter(({ kind }) => release.serves(apiVersion, kind));
      // A version of which nothing is left is not served at all.
      if (left.length === 0 && resources.length > 0) return { status: 404, body: '{}' };
      return { status: 200, body: JSON.stringify({ ...list, resources: left }) };
    }
    if (items === undefined) return answer;
    return { status: 200, body: JSON.stringify({ ...list, items: items.flatMap((one) => left(one, release)) }) };
  };
  return withKinds(trimmed, release.brings.map(asDefinition));
}

type Group = NonNullable<Groups['items']>[number];

function left(group: Group, { serves }: OtherRelease): Group[] {
  const { name } = group.metadata;
  const versions = group.versions.flatMap(({ version, resources, ...rest }) => {
    const apiVersion = name === '' ? version : `${name}/${version}`;
    const served = resources.filter(({ responseKind }) => serves(apiVersion, responseKind?.kind ?? ''));
    return served.length === 0 && resources.length > 0 ? [] : [{ ...rest, version, resources: served }];
  });
  return versions.length === 0 ? [] : [{ ...group, versions }];
}

function versionAnswer(body: string, { gitVersion }: OtherRelease): object {
  const [major, minor] = gitVersion.replace(/^v/, '').split('.');
  return { ...(JSON.parse(body) as object), major, minor, gitVersion };
}

/** In the words in which kinds are added to discovery. Charts ask for group, version and kind; the plural is a guess. */
function asDefinition({ apiVersion, kind }: OtherRelease['brings'][number]): KubeObject {
  const [group = '', name = ''] = apiVersion.split('/');
  const names = { kind, plural: `${kind.toLowerCase()}s` };
  const spec = { group, scope: 'Cluster', names, versions: [{ name, served: true }] };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: kind }, spec };
}
