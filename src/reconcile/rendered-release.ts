import { gunzipSync, gzipSync } from 'node:zlib';
import { HELM_ANNOTATION, HELM_LABEL, type JsonObject, type KubeObject, type Plugin } from '../api/index.ts';
import type { Hook, Release } from '../release/record.ts';
import type { ReleaseName } from './release-records.ts';

/** A hook that is ready to be run: its object as it will be created. */
export interface ReadyHook {
  hook: Hook;
  object: KubeObject;
}

/** What makes a rendered Plugin a Helm release. */
export interface RenderedRelease extends ReleaseName {
  hooks: readonly ReadyHook[];
  /** The parts of the record that only a rendering has, packed: charts are large and seldom needed. */
  draft: Buffer;
  /** The revision of ours that it was read from, when it was not rendered anew. */
  fromRevision: number | undefined;
  /** The revision that it was rendered as: templates can ask for its number. */
  asRevision: number;
}

export type ReleaseDraft = Pick<Release, 'chart' | 'config' | 'manifest'> & { notes?: string };

export function packDraft(draft: ReleaseDraft): Buffer {
  return gzipSync(JSON.stringify(draft), { level: 1 });
}

export function unpackDraft({ draft }: RenderedRelease): ReleaseDraft {
  return JSON.parse(gunzipSync(draft).toString('utf8')) as ReleaseDraft;
}

/** The release of a Plugin: its own name, in the namespace that its objects go to. */
export function releaseOf({ metadata, spec }: Plugin): ReleaseName {
  return { name: metadata.name, namespace: spec.namespace?.name ?? metadata.namespace ?? '' };
}

/** An object with what Helm writes on everything that belongs to a release. */
export function withReleaseMarks(object: KubeObject, { name, namespace }: ReleaseName): KubeObject {
  const { labels, annotations, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...labels, [HELM_LABEL]: 'Helm' },
      annotations: {
        ...annotations,
        [HELM_ANNOTATION.release]: name,
        [HELM_ANNOTATION.namespace]: namespace,
      },
    },
  };
}

/** What `helm show chart` says of a record's chart. */
export function chartVersion({ chart }: Pick<ReleaseDraft, 'chart'>): {
  chart?: string;
  version?: string;
  app?: string;
} {
  const { name, version, appVersion } = (chart.metadata ?? {}) as JsonObject;
  return {
    ...(typeof name === 'string' ? { chart: name } : {}),
    ...(typeof version === 'string' ? { version } : {}),
    ...(typeof appVersion === 'string' && appVersion !== '' ? { app: appVersion } : {}),
  };
}

/** Images that the chart's author says it needs, objects or not: those that an operator starts later, say. */
export function chartImages({ chart }: Pick<ReleaseDraft, 'chart'>): { chartImages?: string } {
  const { annotations } = (chart.metadata ?? {}) as { annotations?: JsonObject };
  const images = annotations?.['artifacthub.io/images'];
  return typeof images === 'string' ? { chartImages: images } : {};
}
