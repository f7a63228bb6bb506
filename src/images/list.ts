import { type ImageName, parseImage } from './name.ts';
import { leftBehind } from './rules.ts';

/** Programs check this first. Fields are added within a version; a change of meaning makes a new one. */
export const IMAGES_VERSION = 'espalier.dev/images/v1';

/** Where an image is named. `chart`: by the chart's author, in its annotations. */
export interface ImageUse {
  /** `namespace/name`. */
  plugin: string;
  by: 'object' | 'hook' | 'chart';
  object?: { apiVersion: string; kind: string; namespace: string | null; name: string };
  /** JSON pointer in the object. */
  path?: string;
}

/** One image that somebody named, from where it comes and as the cluster pulls it. */
export interface NamedImage {
  image: string;
  pulled: string;
  use: ImageUse;
}

export interface ListedImage {
  /** As it is named, before anything rewrites it. */
  image: string;
  /** With its registry, and without tag and digest; null for what is no name of an image. */
  name: string | null;
  tag: string | null;
  digest: string | null;
  /** As the cluster pulls it: by the rules of the Sync, and its global values. */
  pulled: string;
  uses: ImageUse[];
}

export interface ListedChart {
  plugin: string;
  name: string;
  version: string;
  /** `https://charts.example.com` or `oci://registry.example.com/charts/web`. */
  source: string;
}

export interface ImageList {
  version: typeof IMAGES_VERSION;
  images: ListedImage[];
  charts: ListedChart[];
  /** Images, as they are pulled, that no rule leads to a registry of one's own. */
  left: string[];
  /** What is not for this cluster, and why. */
  absent: string[];
  /** What could not be read or rendered: its images are missing here. */
  faults: string[];
}

/** Every image once, sorted, with all that use it. */
export function listImages(named: readonly NamedImage[]): ListedImage[] {
  const listed = new Map<string, ListedImage>();
  for (const { image, pulled, use } of named) {
    const key = `${image} ${pulled}`;
    const known = listed.get(key);
    if (known !== undefined) known.uses.push(use);
    else listed.set(key, { image, ...partsOf(parseImage(image)), pulled, uses: [use] });
  }
  return [...listed.values()].toSorted((a, b) => compare(a.image, b.image) || compare(a.pulled, b.pulled));
}

/** Images that an operator starts later, say, are left behind just like those of objects. */
export function leftIn(images: readonly ListedImage[], places: readonly string[]): string[] {
  return leftBehind(
    images.map(({ pulled }) => pulled),
    places,
  );
}

function partsOf(parsed: ImageName | undefined): Pick<ListedImage, 'name' | 'tag' | 'digest'> {
  return { name: parsed?.name ?? null, tag: parsed?.tag ?? null, digest: parsed?.digest ?? null };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
