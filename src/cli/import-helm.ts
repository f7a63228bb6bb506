import { messageOf } from '../api/errors.ts';
import type { JsonObject, KubeObject } from '../api/objects.ts';
import { chartNameOf, type FoundRelease, fromHelm, makerOf } from '../compat/import/helm.ts';
import type { Imported } from '../compat/import/imported.ts';
import { textAt } from '../compat/import/read.ts';
import type { World } from '../compat/import/world.ts';
import { type Release, readRecord, recordName } from '../release/record.ts';
import type { Cluster } from './cluster.ts';
import type { ImportFlags } from './import.ts';
import { findCharts, lockFor } from './import-charts.ts';
import { readAll, scopeOf } from './import-read.ts';

export async function importHelm(cluster: Cluster, flags: ImportFlags, world: World): Promise<Imported> {
  const releases = await readReleases(cluster, flags);
  const wanted = releases.flatMap(({ deployed }) => (deployed === undefined ? [] : [chartNameOf(deployed)]));
  const published = await findCharts(flags.repository ?? [], wanted);
  const sourceOf = (release: Release | undefined): JsonObject | undefined => {
    if (release === undefined) return undefined;
    const { name, version } = chartNameOf(release);
    return published.get(`${name} ${version}`);
  };
  return fromHelm(releases, {
    printYaml: world.printYaml,
    published: ({ deployed }) => sourceOf(deployed),
    lockFor: (chart) => lockFor(chart, world.printYaml),
    valuesToSecret: flags.valuesToSecret === true,
  });
}

/** The releases that a person means, each with the revision that is in force. Only that record is read as a whole. */
async function readReleases(cluster: Cluster, flags: ImportFlags): Promise<FoundRelease[]> {
  const { client } = cluster;
  const { labelSelector, ...scope } = scopeOf(cluster, flags);
  const selector = labelSelector === undefined ? 'owner=helm' : `owner=helm,${labelSelector}`;
  const target = { apiVersion: 'v1', kind: 'Secret', ...scope, labelSelector: selector, metadataOnly: true };
  const { items } = await client.list(target);
  const kubegems = await kubegemsReleases(cluster);
  const releases = new Map<string, KubeObject[]>();
  for (const item of items) {
    const key = `${item.metadata.namespace}/${item.metadata.labels?.name}`;
    releases.set(key, [...(releases.get(key) ?? []), item]);
  }
  const found: FoundRelease[] = [];
  for (const [key, records] of [...releases].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [namespace = '', name = ''] = key.split('/');
    const sorted = records.sort((a, b) => revisionOf(a) - revisionOf(b));
    const newest = sorted.at(-1);
    const inForce = sorted.findLast(({ metadata }) => metadata.labels?.status === 'deployed');
    const labels = newest?.metadata.labels ?? {};
    const head = { revision: newest === undefined ? 0 : revisionOf(newest), status: labels.status ?? 'unknown' };
    const read = inForce === undefined ? {} : await readDeployed(cluster, namespace, name, revisionOf(inForce));
    const owner = kubegems.get(key) ?? (read.deployed === undefined ? undefined : makerOf(read.deployed));
    found.push({
      name,
      namespace,
      deployed: undefined,
      newest: head,
      labels,
      ...read,
      ...(owner === undefined ? {} : { owner }),
    });
  }
  return found;
}

async function readDeployed(
  { client }: Cluster,
  namespace: string,
  name: string,
  revision: number,
): Promise<Pick<FoundRelease, 'unreadable'> & { deployed?: Release }> {
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: recordName(name, revision) });
  if (secret === undefined) return { unreadable: `revision ${revision} went away while it was read; import again` };
  try {
    return { deployed: readRecord(secret) };
  } catch (error) {
    return { unreadable: messageOf(error) };
  }
}

/** Releases that the installer of KubeGems makes, by `namespace/name`. */
async function kubegemsReleases(cluster: Cluster): Promise<Map<string, string>> {
  const plugins = await readAll(cluster, 'plugins.kubegems.io', 'Plugin');
  return new Map(
    plugins.map(({ metadata: { name, namespace = '' }, spec }) => [
      `${textAt(spec, 'installNamespace') ?? namespace}/${name}`,
      `Plugin ${namespace}/${name} of KubeGems`,
    ]),
  );
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.labels?.version ?? 0);
}
