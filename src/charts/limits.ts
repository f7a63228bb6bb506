/** What one chart, or one download, may cost. Everything that its author can make large is named here. */
export interface ChartLimits {
  /** Bytes of an archive, compressed. */
  archiveBytes: number;
  /** Bytes of all that is in it, charts in it included. */
  unpackedBytes: number;
  /** Bytes of all that is in a downloaded folder, which is held in memory while it is rendered. */
  folderBytes: number;
  /** Bytes of one file in a chart: Helm's own limit. */
  fileBytes: number;
  /** How many times larger than its archive the content may be, beyond the first megabyte. */
  ratio: number;
  files: number;
  /** Archives in archives. */
  depth: number;
  /** Bytes of a repository's index. */
  indexBytes: number;
  /** Bytes of the part of an index that is about one chart. */
  entryBytes: number;
}

const MiB = 1024 * 1024;

export const DEFAULT_LIMITS: ChartLimits = {
  archiveBytes: 20 * MiB,
  unpackedBytes: 100 * MiB,
  folderBytes: 50 * MiB,
  fileBytes: 5 * MiB,
  ratio: 100,
  files: 10_000,
  depth: 5,
  indexBytes: 128 * MiB,
  entryBytes: 32 * MiB,
};
