import type { KubeObject } from '../api/index.ts';
import type { ImageField } from './fields.ts';
import { findImages } from './find.ts';
import type { ImageUse, NamedImage } from './list.ts';
import { parseImage } from './name.ts';
import { type ImageRule, rewriteImage } from './rules.ts';

/** What one rendering of a Plugin holds, before any rule rewrote it. */
export interface RenderedImages {
  plugin: string;
  objects: readonly KubeObject[];
  hooks: readonly KubeObject[];
  /** Images that the chart's author lists. */
  charts: readonly string[];
}

export interface ImageSettings {
  rules: readonly ImageRule[];
  fields: readonly ImageField[];
}

/**
 * The images of a Plugin. `asInCluster` is the same Plugin with the global values that lead a chart to a registry of its
 * own, where there are such: what stands at the same place there is what is pulled.
 */
export function namedImages(
  rendered: RenderedImages,
  asInCluster: RenderedImages | undefined,
  { rules, fields }: ImageSettings,
): NamedImage[] {
  const upstream = new Map(found(rendered, fields).map((one) => [placeOf(one.use), one.image]));
  const pull = (image: string) => rewriteImage(image, rules) ?? image;
  const named = found(asInCluster ?? rendered, fields).map(({ image, use }): NamedImage => {
    const from = upstream.get(placeOf(use));
    // Without its registry a template may come out as no image at all: then it is as good as what it becomes.
    const isImage = from !== undefined && parseImage(from) !== undefined;
    return { image: isImage ? from : image, pulled: pull(image), use };
  });
  const charts = rendered.charts.map((image): NamedImage => {
    return { image, pulled: pull(image), use: { plugin: rendered.plugin, by: 'chart' } };
  });
  return [...named, ...charts];
}

function found({ plugin, objects, hooks }: RenderedImages, fields: readonly ImageField[]) {
  const of = (list: readonly KubeObject[], by: ImageUse['by']) =>
    list.flatMap((object) =>
      findImages(object, fields).map(({ image, path }) => ({
        image,
        use: { plugin, by, object: refOf(object), path },
      })),
    );
  return [...of(objects, 'object'), ...of(hooks, 'hook')];
}

function refOf({ apiVersion, kind, metadata }: KubeObject): NonNullable<ImageUse['object']> {
  return { apiVersion, kind, namespace: metadata.namespace ?? null, name: metadata.name };
}

function placeOf({ by, object, path }: ImageUse): string {
  return JSON.stringify([by, object, path]);
}

/** What `artifacthub.io/images` holds: a list of maps with a name and an image. Anything else names none. */
export function annotatedImages(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    const image = typeof item === 'object' && item !== null && 'image' in item ? item.image : undefined;
    return typeof image === 'string' && image !== '' ? [image] : [];
  });
}
