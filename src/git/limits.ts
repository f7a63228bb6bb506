/** What one repository may cost. Everything that a server or a commit can make large is named here. */
export interface GitLimits {
  /** Bytes of one pack on the wire. */
  packBytes: number;
  /** Bytes of a list of refs. */
  listingBytes: number;
  /** Objects in one pack. */
  objects: number;
  /** Bytes of one object once inflated: a file, a folder's list or a commit. */
  objectBytes: number;
  /** Commits that a first fetch brings along, so that descent is known without asking again. */
  depth: number;
  /** Commits that are fetched at most to find out whether one commit descends from another. */
  history: number;
  /** Bytes of one fetch from which on the program git, where there is one, does the next. */
  largeBytes: number;
  /** Packs after which the store is rebuilt into one. */
  packs: number;
  /** Bytes of all packs after which the store is rebuilt, and no more is fetched to be kept by name. */
  storeBytes: number;
}

const MiB = 1024 * 1024;

export const DEFAULT_LIMITS: GitLimits = {
  packBytes: 256 * MiB,
  listingBytes: 16 * MiB,
  objects: 500_000,
  objectBytes: 32 * MiB,
  depth: 50,
  history: 5_000,
  largeBytes: 64 * MiB,
  packs: 20,
  storeBytes: 512 * MiB,
};

/** For a store of commits that anybody may propose: beside the followed one, in a folder of its own. */
export const PROPOSAL_LIMITS: GitLimits = {
  ...DEFAULT_LIMITS,
  packBytes: 64 * MiB,
  objects: 100_000,
  objectBytes: 8 * MiB,
  history: 2_000,
};

/** For messages: `12.3 MiB`. */
export function describeBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < MiB ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / MiB).toFixed(1)} MiB`;
}
