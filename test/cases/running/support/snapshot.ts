import {
  ANNOTATION,
  isError,
  type KubeObject,
  type PluginStatus,
  type SyncStatus,
  withInventoryEntries,
} from '../../../../src/api/index.ts';
import type { KubeClient } from '../../../../src/cluster/client.ts';
import { KINDS, type ThreeActs } from './three-acts.ts';

/** The state of one run, in a form that two runs can be compared in: without times, ids and the names that are its own. */
export interface Snapshot {
  objects: Record<string, unknown>;
  /** Of what the two runs have in common, within this run. */
  uids: Record<string, string>;
}

export async function takeSnapshot(client: KubeClient, namespace: string, acts: ThreeActs): Promise<Snapshot> {
  const snapshot: Snapshot = { objects: {}, uids: {} };
  const found = await Promise.all(KINDS(acts.group).map((kind) => listed(client, { ...kind, namespace })));
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  const crd = await client.get({ ...definition, name: `widgets.${acts.group}` });
  const objects = [...found.flat(), ...(crd === undefined ? [] : [crd])];
  const uids = new Set(objects.map((object) => object.metadata.uid));
  for (const object of objects) {
    const name = neutral(`${object.kind} ${object.metadata.name}`, namespace, acts);
    if (name === 'ConfigMap kube-root-ca.crt') continue;
    snapshot.objects[name] = JSON.parse(neutral(JSON.stringify(essence(object, uids)), namespace, acts));
    snapshot.uids[name] = object.metadata.uid ?? '';
  }
  return snapshot;
}

async function listed(client: KubeClient, target: { apiVersion: string; kind: string; namespace: string }) {
  try {
    return (await client.list(target)).items;
  } catch (error) {
    if (isError(error, 'KubeKindUnknown', 'KubeNotFound')) return [];
    throw error;
  }
}

function neutral(text: string, namespace: string, acts: ThreeActs): string {
  let out = text.replaceAll(acts.group, 'GROUP').replaceAll(namespace, 'NAMESPACE');
  acts.commits.forEach((commit, index) => {
    out = out.replaceAll(commit, `COMMIT${index + 1}`).replaceAll(commit.slice(0, 10), `COMMIT${index + 1}`);
  });
  return out.replace(/"[0-9a-f]{40}"/g, '"TREE"').replace(/http:[^"]*/, 'URL');
}

/** What a person would call the same: what is declared, who owns which fields, and what status says. */
function essence(object: KubeObject, uids: ReadonlySet<string | undefined>): unknown {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { labels = {}, annotations = {}, finalizers = [], deletionTimestamp, managedFields = [] } = metadata;
  const { [ANNOTATION.inputs]: _, ...ownAnnotations } = annotations;
  const managers = managedFields.map(({ manager, operation, subresource }) => [manager, operation, subresource]);
  return {
    ...rest,
    ...(kind === 'CustomResourceDefinition' ? { status: undefined } : {}),
    ...('status' in rest && (kind === 'Plugin' || kind === 'Sync')
      ? { status: statusEssence(rest.status as PluginStatus & SyncStatus, uids) }
      : {}),
    metadata: {
      labels,
      annotations: ownAnnotations,
      finalizers,
      deleted: deletionTimestamp !== undefined,
      managers: managers
        .filter(([manager]) => manager !== 'test')
        .map(String)
        .sort(),
    },
  };
}

function statusEssence(status: PluginStatus & SyncStatus, uids: ReadonlySet<string | undefined>): unknown {
  const { conditions = [], inventory = [], history, ...rest } = withInventoryEntries(status);
  return {
    ...rest,
    ...(rest.revision?.key === undefined ? {} : { revision: { ...rest.revision, key: 'KEY' } }),
    ...(rest.attempted === undefined ? {} : { attempted: rest.attempted.key === rest.revision?.key }),
    conditions: conditions
      .map(({ type, status, reason, message, observedGeneration }) => ({
        type,
        status,
        reason,
        message,
        observedGeneration,
      }))
      .sort((a, b) => a.type.localeCompare(b.type)),
    inventory: inventory
      .map((entry) => ({
        ...entry,
        uid: uids.has(entry.uid) ? 'of the object that is there' : entry.uid,
        ...('applied' in entry ? { applied: String(entry.applied).replace(/^[0-9a-f]{20}$/, 'HASH') } : {}),
      }))
      .sort((a, b) => `${a.kind} ${a.name}`.localeCompare(`${b.kind} ${b.name}`)),
    ...(history === undefined ? {} : { history: history.map(({ outcome, commit }) => ({ outcome, commit })) }),
  };
}
