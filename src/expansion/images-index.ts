import { type ArchivedImage, type ArchiveFiles, isMap } from './archive-files.ts';
import { dockerImages } from './docker-archive.ts';
import { layoutImages } from './layout-images.ts';
import { fullImage } from './names.ts';

/** The two ways in which an archive of images says what is in it. */
export interface Indexes {
  /** `manifest.json` of a docker-archive. */
  docker?: string;
  /** `index.json` of an OCI layout. */
  oci?: string;
}

/** An image under one name of it, as registries call it. */
export interface NamedImage extends Pick<ArchivedImage, 'root' | 'manifests' | 'parts'> {
  name: string;
}

/**
 * The images without duplicates, and what is wrong with them. An archive may be both kinds at once: then the layout has the
 * manifests that somebody made, but may lack what is for other platforms.
 */
export function imagesIn(
  { docker, oci }: Indexes,
  archive: ArchiveFiles,
): { images: NamedImage[] | undefined; faults: string[] } {
  if (docker === undefined && oci === undefined)
    return { images: undefined, faults: ['holds neither manifest.json (docker-archive) nor index.json (OCI layout)'] };
  const faults = new Set<string>();
  const inLayout = itemsOf(oci, 'index.json', manifestsOf, faults);
  const inDocker = itemsOf(docker, 'manifest.json', (json) => json, faults);
  const found = [...layoutImages(inLayout, archive), ...dockerImages(inDocker, archive)];
  // Of an archive that is both kinds at once, one of the two indexes may leave the names to the other.
  if (oci === undefined || docker === undefined) {
    const ids = [...inLayout.map(({ digest }) => digest), ...inDocker.map(({ Config }) => Config)].map(String);
    const named = new Set(ids.filter((_, at) => found[at]?.names.length !== 0));
    for (const [at, id] of ids.entries())
      if (!named.has(id) && found[at]?.faults.length === 0)
        faults.add(`holds ${id.slice(0, 100)} without a name and tag`);
  }
  const images = new Map<string, ArchivedImage>();
  for (const image of found) {
    if (image.names.length === 0) for (const fault of image.faults) faults.add(fault);
    for (const name of image.names.map(fullImage)) {
      const known = images.get(name);
      if (known === undefined || (known.faults.length > 0 && image.faults.length === 0)) images.set(name, image);
    }
  }
  for (const image of images.values()) for (const fault of image.faults) faults.add(fault);
  const named = [...images].map(([name, { root, manifests, parts }]) => ({ name, root, manifests, parts }));
  return { images: named, faults: [...faults] };
}

function manifestsOf(json: unknown): unknown {
  return isMap(json) ? json.manifests : undefined;
}

function itemsOf(
  text: string | undefined,
  file: string,
  pick: (json: unknown) => unknown,
  faults: Set<string>,
): Record<string, unknown>[] {
  if (text === undefined) return [];
  try {
    const items = pick(JSON.parse(text));
    if (Array.isArray(items)) return items.filter(isMap);
  } catch {
    // Said below.
  }
  faults.add(`has a ${file} that lists no images`);
  return [];
}
