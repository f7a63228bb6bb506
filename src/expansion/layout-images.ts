import { messageOf } from '../api/index.ts';
import { contentsOf, digestOf, mediaTypeOf } from '../registry/contents.ts';
import { DIGEST, type Manifest } from '../registry/types.ts';
import { type ArchivedImage, type ArchiveFiles, isMap } from './archive-files.ts';

const CONTAINERD_NAME = 'io.containerd.image.name';
const REF_NAME = 'org.opencontainers.image.ref.name';
/** Of indexes in indexes. */
const DEEPEST = 5;

/** The images of the `index.json` of an OCI layout, with all that their manifests name. */
export function layoutImages(items: readonly Record<string, unknown>[], archive: ArchiveFiles): ArchivedImage[] {
  return items.map(({ annotations, digest }) => {
    const said = isMap(annotations) ? annotations : {};
    const named = said[CONTAINERD_NAME] ?? said[REF_NAME];
    const names = typeof named === 'string' ? [named] : [];
    const name = names[0] ?? 'an image without a name';
    const image: ArchivedImage = { names, root: undefined, manifests: [], parts: new Map(), faults: [] };
    if (typeof digest !== 'string' || !DIGEST.test(digest)) {
      image.faults.push(`has an index.json without a sha256 digest of ${name}`);
      return image;
    }
    const root = walk(digest, name, archive, image, DEEPEST);
    return image.faults.length === 0 ? { ...image, root } : image;
  });
}

function walk(
  digest: string,
  name: string,
  archive: ArchiveFiles,
  image: ArchivedImage,
  depth: number,
): Manifest | undefined {
  const { manifests, parts, faults } = image;
  const path = pathOf(digest);
  const bytes = archive.documents.get(path);
  if (bytes === undefined || digestOf(bytes) !== digest || depth === 0) {
    const why = archive.files.has(path) ? `holds ${path}, which is no manifest of` : `lacks ${path} of`;
    faults.push(`${why} ${name}`);
    return undefined;
  }
  const manifest = { digest, bytes, mediaType: mediaTypeOf(bytes) };
  try {
    const contents = contentsOf(manifest, name);
    for (const child of contents.manifests) {
      if (manifests.some((one) => one.digest === child.digest)) continue;
      const found = walk(child.digest, name, archive, image, depth - 1);
      if (found !== undefined) manifests.push(found);
    }
    for (const part of contents.blobs) {
      const file = archive.files.get(pathOf(part.digest));
      if (file?.size === part.size) parts.set(part.digest, { path: pathOf(part.digest), isWrapped: false });
      else if (file === undefined) faults.push(`lacks ${pathOf(part.digest)} of ${name}`);
      else faults.push(`holds ${pathOf(part.digest)} with ${file.size} bytes, and ${name} has ${part.size}`);
    }
  } catch (error) {
    faults.push(`can't be used: ${messageOf(error)}`);
  }
  return manifest;
}

function pathOf(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}
