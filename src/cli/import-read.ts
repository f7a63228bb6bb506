import { EspalierError, groupOf, isError, type KubeObject } from '../api/index.ts';
import type { Cluster } from './cluster.ts';
import type { ImportFlags } from './import.ts';

/** In which version the cluster serves a kind, if it does. */
export async function servedVersion({ client }: Cluster, group: string, kind: string): Promise<string | undefined> {
  const found = (await client.resources()).find((one) => one.kind === kind && groupOf(one.apiVersion) === group);
  return found?.apiVersion;
}

export interface ForeignKind {
  group: string;
  kind: string;
}

/** The objects that a person means, a list for each kind. Refused when the cluster serves none of them. */
export async function readKinds(
  cluster: Cluster,
  flags: ImportFlags,
  kinds: readonly ForeignKind[],
  tool: string,
): Promise<KubeObject[][]> {
  const versions = await Promise.all(kinds.map(({ group, kind }) => servedVersion(cluster, group, kind)));
  if (versions.every((version) => version === undefined)) {
    const names = kinds.map(({ group, kind }) => `${kind} (${group})`).join(' nor ');
    const message = `the cluster does not know the kind ${names}: ${tool} is not installed there. Choose another cluster with --context`;
    throw new EspalierError('KubeKindUnknown', message, { retry: false });
  }
  const scope = scopeOf(cluster, flags);
  return await Promise.all(
    kinds.map(async ({ kind }, index) => {
      const apiVersion = versions[index];
      if (apiVersion === undefined) return [];
      return withKind(await cluster.client.list({ apiVersion, kind, ...scope }), apiVersion, kind);
    }),
  );
}

/** Which objects a person means. */
export function scopeOf(
  { namespace }: Cluster,
  { allNamespaces, selector }: ImportFlags,
): { namespace?: string; labelSelector?: string } {
  return {
    ...(allNamespaces ? {} : { namespace }),
    ...(selector === undefined ? {} : { labelSelector: selector }),
  };
}

/** Every object of a kind that a person may see: of all namespaces, or where that is refused of one. */
export async function readAll(cluster: Cluster, group: string, kind: string): Promise<KubeObject[]> {
  const apiVersion = await servedVersion(cluster, group, kind);
  if (apiVersion === undefined) return [];
  const { client, namespace } = cluster;
  const list = await client.list({ apiVersion, kind }).catch(async (error: unknown) => {
    if (!isError(error, 'KubeForbidden')) throw error;
    return await client.list({ apiVersion, kind, namespace });
  });
  return withKind(list, apiVersion, kind);
}

/** Items of a list need not say what they are. */
function withKind({ items }: { items: KubeObject[] }, apiVersion: string, kind: string): KubeObject[] {
  return items.map((item) => ({ ...item, apiVersion, kind }));
}
