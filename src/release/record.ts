import { gunzipSync, gzipSync } from 'node:zlib';
import { EspalierError, type JsonObject, type KubeObject, messageOf } from '../api/index.ts';

/** States of a release record, as Helm names them. */
export type ReleaseStatus =
  | 'deployed'
  | 'failed'
  | 'superseded'
  | 'uninstalled'
  | 'uninstalling'
  | 'pending-install'
  | 'pending-upgrade'
  | 'pending-rollback'
  | 'unknown';

export type HookEvent =
  | 'pre-install'
  | 'post-install'
  | 'pre-delete'
  | 'post-delete'
  | 'pre-upgrade'
  | 'post-upgrade'
  | 'pre-rollback'
  | 'post-rollback'
  | 'test';

export interface HookRun {
  started_at?: string;
  completed_at?: string;
  phase: 'Unknown' | 'Running' | 'Succeeded' | 'Failed';
}

export interface Hook {
  name: string;
  kind: string;
  /** The template that it came from. */
  path: string;
  manifest: string;
  events: HookEvent[];
  last_run?: HookRun;
  weight?: number;
  delete_policies?: string[];
  output_log_policies?: string[];
}

/** One revision of a release, with the field names that Helm writes. What else a record holds is kept as it is. */
export interface Release {
  name: string;
  namespace: string;
  version: number;
  info: {
    first_deployed?: string;
    last_deployed?: string;
    deleted?: string;
    description?: string;
    status: ReleaseStatus;
    notes?: string;
  };
  chart: JsonObject;
  config?: JsonObject;
  manifest: string;
  hooks?: Hook[];
  apply_method?: string;
  /** Of ours, while a revision is being made: hooks that have run, by event. Helm passes over it. */
  espalier?: { event?: 'install' | 'upgrade' | 'rollback'; ran: Partial<Record<HookEvent, string[]>> };
}

export const RELEASE_TYPE = 'helm.sh/release.v1';
/** Helm gives no record more: etcd takes 1.5 MiB, and the API server 1 MiB of a Secret. */
export const MAX_RECORD_BYTES = 1_048_576;
/** What a hostile or broken record may unpack to. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

export function recordName(release: string, revision: number): string {
  return `sh.helm.release.v1.${release}.v${revision}`;
}

export function isPending(status: string | undefined): boolean {
  return status?.startsWith('pending-') === true;
}

/** The Secret of a record; `labels` are those of ours, which Helm carries along. Refuses what the API server would not take. */
export function writeRecord(release: Release, labels: Readonly<Record<string, string>>): KubeObject {
  const data = Buffer.from(gzipSync(JSON.stringify(release), { level: 9 }).toString('base64')).toString('base64');
  if (data.length * 0.75 > MAX_RECORD_BYTES) {
    throw new EspalierError(
      'RenderRefused',
      `the record of release ${release.name} would take ${Math.ceil((data.length * 0.75) / 1024)} KiB, more than the 1024 KiB of a Secret; make the chart smaller (files that its templates do not read, large CRDs in templates), or split it`,
      { retry: false },
    );
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: recordName(release.name, release.version),
      namespace: release.namespace,
      labels: {
        ...labels,
        name: release.name,
        owner: 'helm',
        status: release.info.status,
        version: String(release.version),
      },
    },
    type: RELEASE_TYPE,
    data: { release: data },
  };
}

/** What a record's Secret holds. */
export function readRecord(secret: KubeObject): Release {
  try {
    const { release } = (secret.data ?? {}) as { release?: string };
    const packed = Buffer.from(Buffer.from(release ?? '', 'base64').toString('latin1'), 'base64');
    const isPacked = packed[0] === 0x1f && packed[1] === 0x8b;
    const text = isPacked ? gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }) : packed;
    const record = JSON.parse(text.toString('utf8')) as Release;
    if (typeof record.manifest !== 'string' || typeof record.info?.status !== 'string')
      throw new Error('it has no manifest or no status');
    return record;
  } catch (cause) {
    throw new EspalierError(
      'ReleaseUnreadable',
      `${secret.metadata.name} is no record that Helm wrote: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}
