import { parse } from 'yaml';
import type { JsonObject, KubeObject, Plugin, Sync } from '../api/index.ts';
import type { Chart } from '../charts/charts.ts';
import { IMAGES_VERSION, type ImageList, type ListedChart, leftIn, listImages } from '../images/list.ts';
import { annotatedImages, namedImages, type RenderedImages } from '../images/named.ts';
import { ownPlaces } from '../images/rules.ts';
import type { RevisionPlugin } from '../reconcile/render-revision.ts';
import { type RenderSource, type SourceRenderer, type SourceRevision, withRenderer } from './render-source.ts';

export interface ImageSource {
  sync: Sync;
  list: ImageList;
  /** Plugins with a chart in a repository or registry. */
  charts: SourceChart[];
}

export interface SourceChart extends ListedChart {
  isOci: boolean;
  /** For OCI `id` is the digest of the manifest. */
  find(): Promise<{ id: string; fetch(): Promise<Chart> }>;
}

/**
 * Finds every image of every Plugin of a source. It is rendered without what rewrites images, so that they are known by
 * the names under which they can be had; and once more with the global values where these name a registry.
 */
export async function withImages<T>(input: RenderSource, use: (source: ImageSource) => Promise<T>): Promise<T> {
  // What a chart or a package renders needs its images as much.
  const flags = { ...input.flags, nested: true } as const;
  return await withRenderer({ ...input, flags }, async ({ sync, render, chartOf }) => {
    const values: JsonObject = sync.spec.values ?? {};
    const { imageRegistry } = values;
    // Empty, not absent: templates that look for it in `global` would fail without any.
    const upstreamValues = imageRegistry === undefined ? values : { ...values, imageRegistry: '' };
    const unwritten = { ...sync.spec, images: { ...sync.spec.images, rewrite: [] } };
    const asInCluster = imageRegistry === undefined ? undefined : await render({ ...sync, spec: unwritten });
    const rendered = await render({ ...sync, spec: { ...unwritten, values: upstreamValues } });
    const settings = { rules: sync.spec.images.rewrite ?? [], fields: sync.spec.images.fields ?? [] };
    const whole = asInCluster ?? rendered;
    const upstream = new Map(rendered.plugins.map((one) => [one.key, one]));
    const images = listImages(
      whole.plugins.flatMap((one) => {
        const before = upstream.get(one.key);
        if (one.rendered === undefined) return [];
        return namedImages(imagesOf(before?.rendered === undefined ? one : before), imagesOf(one), settings);
      }),
    );
    const list: ImageList = {
      version: IMAGES_VERSION,
      images,
      charts: whole.plugins.flatMap(chartOfPlugin).map(({ listed }) => listed),
      left: leftIn(images, ownPlaces(settings.rules, imageRegistry)),
      absent: whole.absent,
      faults: whole.faults,
    };
    return await use({ sync, list, charts: chartsOf(whole, chartOf) });
  });
}

/** Where a Plugin that others render comes in: one more entry of the revision, rendered like the rest. */
function imagesOf({ key, rendered }: RevisionPlugin): RenderedImages {
  return {
    plugin: key,
    objects: rendered?.objects ?? [],
    hooks: (rendered?.release?.hooks ?? []).map(({ object }): KubeObject => object),
    charts: annotated(rendered?.chartImages),
  };
}

/** It is somebody else's text: what is no list names no image. */
function annotated(text: string | undefined): string[] {
  if (text === undefined) return [];
  try {
    return annotatedImages(parse(text, { maxAliasCount: 10 }));
  } catch {
    return [];
  }
}

function chartOfPlugin({ key, plugin, rendered }: RevisionPlugin): { listed: ListedChart; plugin: Plugin }[] {
  const { chart, oci, download } = plugin.spec.source;
  const source = chart?.repository ?? oci?.url ?? download?.url;
  const { chart: name, version } = rendered?.version ?? {};
  return source === undefined || name === undefined || version === undefined
    ? []
    : [{ listed: { plugin: key, name, version, source }, plugin }];
}

function chartsOf({ plugins }: SourceRevision, chartOf: SourceRenderer['chartOf']): SourceChart[] {
  return plugins.flatMap(chartOfPlugin).map(({ listed, plugin }) => {
    return { ...listed, isOci: plugin.spec.source.oci !== undefined, find: () => chartOf(plugin) };
  });
}
