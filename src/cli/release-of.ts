import { EspalierError } from '../api/errors.ts';
import type { Plugin } from '../api/index.ts';
import type { KubeObject } from '../api/objects.ts';
import { type Release, readRecord } from '../release/record.ts';
import type { Cluster } from './cluster.ts';
import { findTarget } from './find.ts';
import { isSync } from './standing.ts';
import { parseTargets, shown } from './target.ts';

export interface ReleasePlace {
  name: string;
  namespace: string;
}

/** The one Plugin that a person named; a bare name is a Plugin's. */
export async function findPlugin(cluster: Cluster, words: readonly string[]): Promise<Plugin> {
  const [target, ...others] = parseTargets(words);
  if (target === undefined || others.length > 0) throw wrong('name one Plugin at a time');
  const object = await findTarget(cluster, target, 'Plugin');
  if (isSync(object)) throw wrong(`${shown({ kind: 'Sync', name: target.name })} has no release: name a Plugin`);
  return object;
}

/** Where the Helm release of a Plugin is; undefined for the other kinds of Plugins. */
export function placeOf({ metadata, spec, status }: Plugin): ReleasePlace | undefined {
  if (spec.kind !== 'helm') return undefined;
  const { name, namespace } = (status as { release?: ReleasePlace } | undefined)?.release ?? {};
  return {
    name: name ?? metadata.name,
    namespace: namespace ?? spec.namespace?.name ?? metadata.namespace ?? 'default',
  };
}

export function mustBeRelease(plugin: Plugin, command: string): ReleasePlace {
  const place = placeOf(plugin);
  if (place !== undefined) return place;
  const what = shown({ kind: 'Plugin', name: plugin.metadata.name });
  throw wrong(`${what} is of kind ${plugin.spec.kind}: "espalier ${command}" is for Helm releases (kind: helm)`);
}

/** The revisions that Helm keeps, oldest first. Asks with the rights of whoever runs this. */
export async function releasesOf({ client }: Cluster, { name, namespace }: ReleasePlace): Promise<Release[]> {
  const labelSelector = `owner=helm,name=${name}`;
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Secret', namespace, labelSelector });
  return items
    .filter((secret: KubeObject & { type?: string }) => secret.type === 'helm.sh/release.v1')
    .map(readRecord)
    .sort((a, b) => a.version - b.version);
}

export function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
