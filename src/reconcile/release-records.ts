import { isError, type KubeObject, LABEL, type PluginRelease } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type Release, type ReleaseStatus, readRecord, recordName, writeRecord } from '../release/record.ts';

/** A revision as its record's labels tell it; what it holds is read only where that is needed. */
export interface RecordHead {
  revision: number;
  status: ReleaseStatus;
  /** What of ours is on it. Helm copies these labels to the revisions that it makes itself. */
  key: string | undefined;
  attempt: string | undefined;
  /** `namespace/name` of the Plugin that the release belongs to. */
  owner: string | undefined;
}

export interface ReleaseName {
  name: string;
  namespace: string;
}

/** As many as Helm keeps. */
const HISTORY_MAX = 10;

/** The records of a release, oldest first. */
export async function listRecords(client: KubeClient, { name, namespace }: ReleaseName): Promise<RecordHead[]> {
  const { items } = await client.list({
    apiVersion: 'v1',
    kind: 'Secret',
    namespace,
    labelSelector: `owner=helm,name=${name}`,
    metadataOnly: true,
  });
  return items
    .map(headOf)
    .filter(({ revision }) => Number.isSafeInteger(revision) && revision > 0)
    .sort((a, b) => a.revision - b.revision);
}

function headOf({ metadata }: KubeObject): RecordHead {
  const labels = metadata.labels ?? {};
  const owner = labels[LABEL.owner];
  return {
    revision: Number(labels.version),
    status: (labels.status ?? 'unknown') as ReleaseStatus,
    key: labels[LABEL.key],
    attempt: labels[LABEL.attempt],
    owner: owner === undefined ? undefined : `${labels[LABEL.ownerNamespace] ?? ''}/${owner}`,
  };
}

/** What a revision holds; undefined when there is no such revision. */
export async function readRevision(
  client: KubeClient,
  { name, namespace }: ReleaseName,
  revision: number,
): Promise<Release | undefined> {
  const secret = await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: recordName(name, revision) });
  return secret === undefined ? undefined : readRecord(secret);
}

/** Writes a revision that must not exist yet. `taken`: somebody else was faster. */
export async function createRevision(
  client: KubeClient,
  release: Release,
  labels: Readonly<Record<string, string>>,
): Promise<'created' | 'taken'> {
  try {
    await client.create(writeRecord(release, { ...labels, createdAt: seconds() }));
    return 'created';
  } catch (error) {
    if (isError(error, 'KubeAlreadyExists', 'KubeConflict')) return 'taken';
    throw error;
  }
}

/** Writes a revision of ours again. The labels of ours stay. */
export async function updateRevision(client: KubeClient, release: Release): Promise<void> {
  const secret = writeRecord(release, {});
  const { name, namespace = '' } = secret.metadata;
  const labels = { ...secret.metadata.labels, createdAt: null, modifiedAt: seconds() };
  const body = { metadata: { labels }, data: secret.data as { release: string } };
  await client.patch({ apiVersion: 'v1', kind: 'Secret', namespace, name }, body, {
    type: 'merge',
    fieldManager: 'Helm',
  });
}

/** Puts our labels on a revision that somebody else deployed and nobody owns. Undefined when that is no longer so. */
export async function takeRevision(
  client: KubeClient,
  { name, namespace }: ReleaseName,
  revision: number,
  labels: Readonly<Record<string, string>>,
): Promise<Release | undefined> {
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: recordName(name, revision) };
  const secret = await client.get(ref);
  if (secret === undefined || headOf(secret).status !== 'deployed' || headOf(secret).owner !== undefined)
    return undefined;
  const { resourceVersion = '' } = secret.metadata;
  try {
    const body = { metadata: { resourceVersion, labels } };
    return readRecord(await client.patch(ref, body, { type: 'merge', fieldManager: 'Helm' }));
  } catch (error) {
    if (isError(error, 'KubeConflict')) return undefined;
    throw error;
  }
}

/** Changes what the record of a revision says of its state; one that is gone needs no word. */
export async function markRevision(
  client: KubeClient,
  release: ReleaseName,
  revision: number,
  info: Partial<Release['info']>,
): Promise<void> {
  const record = await readRevision(client, release, revision);
  if (record !== undefined) await updateRevision(client, { ...record, info: { ...record.info, ...info } });
}

/** Older revisions that were deployed are superseded by a new one, and those beyond what Helm keeps go. */
export async function settleHistory(
  client: KubeClient,
  release: ReleaseName,
  heads: readonly RecordHead[],
  current: number,
): Promise<void> {
  const older = heads.filter(({ revision }) => revision !== current);
  for (const { revision, status } of older) {
    if (status === 'deployed') await markRevision(client, release, revision, { status: 'superseded' });
  }
  await removeRevisions(client, release, older.slice(0, Math.max(0, older.length + 1 - HISTORY_MAX)));
}

/** As Helm notes when it wrote a record. */
function seconds(): string {
  return String(Math.floor(Date.now() / 1000));
}

export async function removeRevisions(
  client: KubeClient,
  { name, namespace }: ReleaseName,
  heads: readonly Pick<RecordHead, 'revision'>[],
): Promise<void> {
  for (const { revision } of heads)
    await client.delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: recordName(name, revision) });
}

export function ownerLabels(
  plugin: { metadata: { name: string; namespace?: string } },
  { key = '', attempt }: Pick<PluginRelease, 'key' | 'attempt'>,
): Record<string, string> {
  return {
    [LABEL.owner]: plugin.metadata.name,
    [LABEL.ownerNamespace]: plugin.metadata.namespace ?? '',
    [LABEL.key]: shortKey(key),
    [LABEL.attempt]: attempt,
  };
}

/** A label's value has 63 characters. */
export function shortKey(key: string): string {
  return key.slice(0, 40);
}
