import { digestOf } from '../registry/contents.ts';
import { type Manifest, MEDIA } from '../registry/types.ts';
import {
  type ArchivedFile,
  type ArchivedImage,
  type ArchiveFiles,
  fileAt,
  isMap,
  mapIn,
  type PartPlace,
} from './archive-files.ts';

const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const SUFFIX = { gzip: '+gzip', zstd: '+zstd', none: '' } as const;

/**
 * The images of a `manifest.json`, as `docker save` and `crane pull` write it. Such an archive has no manifests: they are made
 * here, of nothing but its content, so that the same archive always gives the same digests. For that layers are not compressed:
 * one that is packed stays as it is, and the others are wrapped, for tools that expect a gzip.
 */
export function dockerImages(items: readonly Record<string, unknown>[], archive: ArchiveFiles): ArchivedImage[] {
  return items.map((item) => {
    const names = textsIn(item.RepoTags);
    const [config = '', ...layers] = [item.Config, ...(Array.isArray(item.Layers) ? item.Layers : [])].map(String);
    return { names, ...imageOf(names[0] ?? 'an image without a name', config, layers, archive) };
  });
}

function imageOf(
  name: string,
  config: string,
  layers: readonly string[],
  archive: ArchiveFiles,
): Omit<ArchivedImage, 'names'> {
  const faults: string[] = [];
  const found = layers.flatMap((path) => {
    const at = fileAt(archive, path);
    if (at === undefined) faults.push(`lacks ${path.slice(0, 200)} of ${name}`);
    return at ?? [];
  });
  const at = fileAt(archive, config);
  const bytes = at === undefined ? undefined : archive.documents.get(at.path);
  if (at === undefined) faults.push(`lacks ${config.slice(0, 200)} of ${name}`);
  else if (bytes === undefined) faults.push(`holds ${config.slice(0, 200)}, which is no config of an image (${name})`);
  else if (faults.length === 0) faults.push(...unlike(name, bytes, found));
  const none = { root: undefined, manifests: [], parts: new Map<string, PartPlace>(), faults };
  if (faults.length > 0 || at === undefined || bytes === undefined) return none;
  const parts = new Map([[digestOf(bytes), { path: at.path, isWrapped: false }]]);
  const described = found.flatMap(({ path, file: { packing, wrapped, ...plain } }) => {
    const { digest, size } = wrapped ?? plain;
    if (digest === undefined) return [];
    parts.set(digest, { path, isWrapped: wrapped !== undefined });
    return { mediaType: LAYER + SUFFIX[wrapped === undefined ? packing : 'gzip'], digest, size };
  });
  if (described.length < found.length) return none;
  return { root: manifestOf(bytes, described), manifests: [], parts, faults };
}

function manifestOf(config: Uint8Array, layers: readonly object[]): Manifest {
  const mediaType = MEDIA.manifest;
  const described = { mediaType: MEDIA.config, digest: digestOf(config), size: config.length };
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config: described, layers }));
  return { mediaType, digest: digestOf(bytes), bytes };
}

/** A config tells the digests of its layers, unpacked. */
function unlike(name: string, config: Uint8Array, layers: readonly { path: string; file: ArchivedFile }[]): string[] {
  const { rootfs } = mapIn(config);
  const diffs = isMap(rootfs) ? textsIn(rootfs.diff_ids) : [];
  if (diffs.length !== layers.length)
    return [`has ${layers.length} layers of ${name}, whose config has ${diffs.length}`];
  return layers.flatMap(({ path, file: { digest, packing } }, index) =>
    digest === undefined || packing !== 'none' || digest === diffs[index]
      ? []
      : `holds a damaged layer of ${name}: ${path} is ${digest}, not ${diffs[index]}`,
  );
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
