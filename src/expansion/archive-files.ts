import { posix } from 'node:path';
import type { Manifest } from '../registry/types.ts';

/** What is known of an image archive after it was read once. */
export interface ArchiveFiles {
  files: Map<string, ArchivedFile>;
  /** Where each link leads to, from the top of the archive. */
  links: Map<string, string>;
  /** Manifests, indexes and configs: all that tells what the rest is. */
  documents: Map<string, Uint8Array>;
}

export interface ArchivedFile {
  size: number;
  /** Where it was asked for, and the path does not say it. */
  digest?: string;
  /** How a layer is packed, by its first bytes. */
  packing: 'gzip' | 'zstd' | 'none';
  /** What it is once it is wrapped into a gzip that compresses nothing, where that was asked for. */
  wrapped?: { digest: string; size: number };
}

/** Where a part is, and whether it is to be wrapped into such a gzip. */
export interface PartPlace {
  path: string;
  isWrapped: boolean;
}

/** One image, as one of the two indexes has it. */
export interface ArchivedImage {
  names: string[];
  /** Undefined where something of it is missing, or digests were not asked for. */
  root: Manifest | undefined;
  /** Of an image for several platforms: those below the root. */
  manifests: Manifest[];
  /** Which file a part is, by digest. */
  parts: Map<string, PartPlace>;
  /** What is wrong with it. */
  faults: string[];
}

const MOST_LINKS = 10;

/** The file at a path, or where links lead from there. Older versions of docker save what two images share as a link. */
export function fileAt({ files, links }: ArchiveFiles, path: string): { path: string; file: ArchivedFile } | undefined {
  let at = path;
  for (let count = 0; count <= MOST_LINKS; count += 1) {
    const file = files.get(at);
    if (file !== undefined) return { path: at, file };
    const target = links.get(at);
    if (target === undefined) return undefined;
    at = target;
  }
  return undefined;
}

/** Symbolic links count from their own folder, hard ones from the top. */
export function linkTarget(path: string, target: string, isHard: boolean): string {
  return posix.normalize(isHard ? target : posix.join(posix.dirname(path), target));
}

export function packingOf(head: Uint8Array): ArchivedFile['packing'] {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  return Buffer.from(head.subarray(0, 4)).equals(ZSTD) ? 'zstd' : 'none';
}

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** True for what is worth keeping: a manifest, an index, or the config of an image. */
export function isDocument(bytes: Uint8Array): boolean {
  const document = mapIn(bytes);
  return ['manifests', 'layers', 'rootfs'].some((key) => Object.hasOwn(document, key));
}

/** What JSON it is, where it is a map; else an empty one. */
export function mapIn(bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isMap(value) ? value : {};
  } catch {
    return {};
  }
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
