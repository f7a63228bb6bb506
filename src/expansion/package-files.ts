import type { PackageFault } from './fault.ts';

/**
 * The files of a checked-out, packed or pushed package, read one by one and only when they are asked for: so a reader that
 * leaves the image archive alone never fetches it.
 */
export interface PackageFiles {
  /** The same for the same content: a digest, or the id of a tree. */
  id: string;
  /** Of every file, from the top of the package: `expansion.yaml`, `charts/demo-0.1.0.tgz`. Sorted. */
  paths: string[];
  /** What rides along and is no file to be read: a link, a path that leads out. */
  faults?: readonly PackageFault[];
  /** Undefined for a path that is not among them. Throws for a file that is too large, damaged or can't be fetched. */
  read(path: string): Promise<Uint8Array | undefined>;
}
