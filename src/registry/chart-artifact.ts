import { EspalierError } from '../api/index.ts';
import { contentsOf, digestOf } from './contents.ts';
import { type Descriptor, type Manifest, MEDIA } from './types.ts';

export const CHART_LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
export const CHART_CONFIG = 'application/vnd.cncf.helm.config.v1+json';

export interface ChartFacts {
  name: string;
  version: string;
  appVersion?: string;
  type?: string;
  /** `sha256:…` of the archive, and how long it is. */
  digest: string;
  bytes: number;
}

export interface ChartArtifact {
  manifest: Manifest;
  config: Descriptor & { bytes: Uint8Array };
  layer: Descriptor;
}

/** An archive of a chart as Helm keeps it in registries. The same archive gives the same digest: nothing tells the time. */
export function chartArtifact({ name, version, appVersion, type, digest, bytes }: ChartFacts): ChartArtifact {
  const facts = { name, version, apiVersion: 'v2', ...(appVersion && { appVersion }), ...(type && { type }) };
  const written = Buffer.from(JSON.stringify(facts));
  const config = { mediaType: CHART_CONFIG, digest: digestOf(written), size: written.length };
  const layer = { mediaType: CHART_LAYER, digest, size: bytes };
  const annotations = { 'org.opencontainers.image.title': name, 'org.opencontainers.image.version': version };
  const document = { schemaVersion: 2, mediaType: MEDIA.manifest, config, layers: [layer], annotations };
  const content = Buffer.from(JSON.stringify(document));
  return {
    manifest: { mediaType: MEDIA.manifest, digest: digestOf(content), bytes: content },
    config: { ...config, bytes: written },
    layer,
  };
}

/** The layer of a manifest that is the chart's archive. */
export function chartLayer(manifest: Manifest, what: string): Descriptor {
  const layer = contentsOf(manifest, what).blobs.find(({ mediaType }) => mediaType === CHART_LAYER);
  if (layer === undefined) throw new EspalierError('ImageInvalid', `${what} is no Helm chart`, { retry: false });
  return layer;
}

/** A tag can't hold a plus. */
export function chartTag(version: string): string {
  return version.replaceAll('+', '_');
}
