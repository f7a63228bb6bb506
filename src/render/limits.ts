/** Bounds of one rendering. What a repository holds is hostile until proven. */
export interface RenderLimits {
  /** For all of it, external programs included. */
  timeoutMs: number;
  /** Files that are read, and bytes of all of them together. */
  files: number;
  inputBytes: number;
  /** What a program may print. */
  outputBytes: number;
  objects: number;
  /** One YAML document. The API server takes objects of 3 MiB; a list may hold several. */
  documentBytes: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_RENDER_LIMITS: RenderLimits = {
  timeoutMs: 60_000,
  files: 5_000,
  inputBytes: 32 * MIB,
  outputBytes: 32 * MIB,
  objects: 10_000,
  documentBytes: 8 * MIB,
};
