import { EspalierError } from '../api/index.ts';
import { formatImage, type ImageName } from '../images/name.ts';
import type { Registry } from '../registry/registry.ts';
import { missing, placeOf, wantedDigest } from './find-source.ts';
import type { Entry, Layout } from './layout.ts';
import type { LayoutFolder } from './layout-folder.ts';
import type { Outcome } from './outcome.ts';
import { repositorySink, repositorySource, transferTree } from './transfer.ts';

export interface Archiving {
  registry: Registry;
  platform: string | undefined;
  dryRun: boolean;
  signal: AbortSignal;
}

type Done = { outcome: Outcome; digest: string };

/** Puts an image into a layout, unless it is there as it is now. */
export async function archiveImage(
  { registry, platform, dryRun, signal }: Archiving,
  layout: LayoutFolder,
  { from, pulled }: { from: ImageName; pulled: string },
  onPart: () => void,
): Promise<Done> {
  const digest = await wantedDigest(registry, from, platform, signal);
  const name = formatImage(from);
  if (layout.has({ kind: 'image', name }, digest)) return { outcome: { state: 'there' }, digest };
  if (dryRun) return { outcome: { state: 'missing' }, digest };
  const place = placeOf(from);
  const root = await registry.manifest(place, digest, signal);
  if (root === undefined) throw missing(from);
  const source = repositorySource(registry, place, signal);
  await transferTree({ from: source, to: layout, what: name, onPart }, root, digest);
  await layout.name({
    kind: 'image',
    name,
    pulled,
    root: { mediaType: root.mediaType, digest, size: root.bytes.length },
  });
  return { outcome: { state: 'copied' }, digest };
}

/** Brings an image of an archive to a registry. Every part is proven on the way. */
export async function restoreImage(
  { registry, dryRun, signal }: Omit<Archiving, 'platform'>,
  layout: Layout,
  entry: Entry,
  to: ImageName,
  onPart: () => void,
): Promise<Done> {
  const { digest } = entry.root;
  const place = placeOf(to);
  const reference = to.tag ?? 'latest';
  if ((await registry.look(place, to.digest ?? reference, signal))?.digest === digest)
    return { outcome: { state: 'there' }, digest };
  if (dryRun) return { outcome: { state: 'missing' }, digest };
  const root = await rootOf(layout, entry);
  await transferTree(
    { from: layout, to: repositorySink(registry, place, signal), what: entry.name, onPart },
    root,
    reference,
  );
  return { outcome: { state: 'copied' }, digest };
}

export async function rootOf(layout: Layout, { name, root }: Entry) {
  const manifest = await layout.manifest(root.digest);
  if (manifest === undefined)
    throw new EspalierError(
      'ArchiveInvalid',
      `the archive names ${name} but lacks its manifest ${root.digest}; make it again with --to-archive`,
      { retry: false },
    );
  return manifest;
}
