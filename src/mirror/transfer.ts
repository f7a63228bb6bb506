import { EspalierError } from '../api/index.ts';
import { contentsOf } from '../registry/contents.ts';
import type { Registry } from '../registry/registry.ts';
import type { Descriptor, Manifest, Place } from '../registry/types.ts';

/** Something that has images: a repository of a registry, or a layout on disk. */
export interface Source {
  manifest(digest: string): Promise<Manifest | undefined>;
  blob(descriptor: Descriptor): AsyncIterable<Uint8Array>;
}

/** Something that takes them. */
export interface Sink {
  hasManifest(digest: string): Promise<boolean>;
  putBlob(descriptor: Descriptor, open: () => AsyncIterable<Uint8Array>): Promise<unknown>;
  putManifest(manifest: Manifest, reference: string): Promise<void>;
}

export interface Transfer {
  from: Source;
  to: Sink;
  /** What it is called in messages. */
  what: string;
  /** Hears of every part that is there now. */
  onPart?(): void;
}

const PARALLEL_PARTS = 3;

/** Carries a manifest and all that it names over, parts first: what is there at any moment is whole. */
export async function transferTree(job: Transfer, root: Manifest, reference: string): Promise<void> {
  const { from, to, what, onPart } = job;
  const { manifests, blobs } = contentsOf(root, what);
  for (const child of manifests) {
    if (await to.hasManifest(child.digest)) continue;
    const manifest = await from.manifest(child.digest);
    if (manifest === undefined)
      throw new EspalierError('ImageDamaged', `${what} names the manifest ${child.digest}, which is not there`);
    await transferTree(job, manifest, child.digest);
  }
  const open = new Map(blobs.map((blob) => [blob.digest, blob])).values();
  const worker = async (): Promise<void> => {
    for (const blob of open) {
      await to.putBlob(blob, () => from.blob(blob));
      onPart?.();
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_PARTS }, worker));
  await to.putManifest(root, reference);
}

export function repositorySource(registry: Registry, place: Place, signal?: AbortSignal): Source {
  return {
    manifest: (digest) => registry.manifest(place, digest, signal),
    blob: (descriptor) => registry.blob(place, descriptor, signal),
  };
}

export function repositorySink(registry: Registry, place: Place, signal?: AbortSignal): Sink {
  return {
    hasManifest: async (digest) => (await registry.look(place, digest, signal)) !== undefined,
    putBlob: (descriptor, open) => registry.putBlob(place, descriptor, open, { signal }),
    putManifest: (manifest, reference) => registry.putManifest(place, reference, manifest, signal),
  };
}
