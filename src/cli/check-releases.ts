import { isError, type KubeObject, messageOf, type Plugin } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { keyOf } from '../reconcile/store.ts';
import { type Release, readRecord } from '../release/record.ts';
import { parseText } from '../render/parse-stream.ts';
import type { KubernetesTarget } from '../resolve/served-apis.ts';
import type { Checked } from './check-model.ts';
import { recordFindings } from './check-plugin.ts';
import { placeOf } from './release-of.ts';

export interface CheckReleases {
  client: KubeClient;
  to: KubernetesTarget;
  /** Undefined: every namespace. */
  namespace: string | undefined;
  /** What is checked, by key of the Plugin: findings are added to it. */
  items: ReadonlyMap<string, Checked>;
  plugins: readonly Plugin[];
  notes: string[];
}

/**
 * Reads what the Helm releases in force hold. One of a Plugin's is told beside it: its next revision replaces it. One of
 * nobody's is told by itself: Helm can't upgrade it once its objects can't be read.
 */
export async function checkReleases(input: CheckReleases): Promise<Checked[]> {
  const { client, to, items, namespace, notes } = input;
  const places = new Map(input.plugins.flatMap(placeEntry));
  const others: Checked[] = [];
  const namespaces = namespace === undefined ? [undefined] : namespacesOf(namespace, places);
  for (const one of namespaces) {
    const target = { apiVersion: 'v1', kind: 'Secret', labelSelector: 'owner=helm,status=deployed' };
    const found = await client.list({ ...target, ...(one === undefined ? {} : { namespace: one }) }).catch((error) => {
      if (!isError(error, 'KubeForbidden')) throw error;
      notes.push(`Helm releases ${one === undefined ? '' : `in ${one} `}were not looked at: ${messageOf(error)}`);
      return { items: [] };
    });
    for (const secret of found.items) {
      const { labels = {}, namespace: at = '' } = secret.metadata;
      const key = places.get(`${at}/${labels.name ?? ''}`);
      const item = key === undefined ? undefined : items.get(key);
      // With one namespace asked for, what else is in the namespaces that its Plugins install into is not asked about.
      if (item === undefined && (key !== undefined || (namespace !== undefined && at !== namespace))) continue;
      const read = await readObjects(secret);
      if ('unreadable' in read) {
        notes.push(read.unreadable);
        continue;
      }
      const { release, objects } = read;
      const held = `revision ${release.version} of Helm release ${at}/${release.name} holds it`;
      if (item !== undefined) item.findings.push(...recordFindings(objects, to.minor, 'RecordedApiRemoved', held));
      else others.push(...foreign(release, at, recordFindings(objects, to.minor, 'ReleaseApiRemoved', held)));
    }
  }
  return others;
}

/** Told only where there is something to tell: a cluster may hold many. */
function foreign({ name, chart }: Release, namespace: string, findings: Checked['findings']): Checked[] {
  if (findings.length === 0) return [];
  const { version } = (chart.metadata ?? {}) as { version?: string };
  return [{ kind: 'Release', namespace, name, findings, ...(version === undefined ? {} : { before: version }) }];
}

async function readObjects(
  secret: KubeObject,
): Promise<{ release: Release; objects: KubeObject[] } | { unreadable: string }> {
  try {
    const release = readRecord(secret);
    const text = [release.manifest, ...(release.hooks ?? []).map(({ manifest }) => manifest)].join('\n---\n');
    return { release, objects: await parseText(text, `revision ${release.version} of release ${release.name}`) };
  } catch (error) {
    if (!isError(error, 'ReleaseUnreadable', 'RenderFailed', 'RenderRefused')) throw error;
    return { unreadable: `a Helm release in ${secret.metadata.namespace} was not looked at: ${error.message}` };
  }
}

function placeEntry(plugin: Plugin): [string, string][] {
  const place = placeOf(plugin);
  return place === undefined ? [] : [[`${place.namespace}/${place.name}`, keyOf(plugin)]];
}

function namespacesOf(namespace: string, places: ReadonlyMap<string, string>): string[] {
  return [...new Set([namespace, ...[...places.keys()].map((place) => place.slice(0, place.indexOf('/')))])];
}
