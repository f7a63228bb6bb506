/** Codes double as condition reasons, so they read as one: `GitAuthFailed`. Add here, sorted by room. */
export type ErrorCode =
  // tools
  | 'ToolMissing'
  | 'ToolBuildFailed'
  | 'ToolChecksumMismatch'
  | 'ProgramTimedOut'
  | 'ProgramOutputTooLarge'
  | 'ProgramFailed'
  | 'Aborted'
  // api, declare, resolve
  | 'InvalidDeclaration'
  | 'InvalidConfiguration'
  | 'DependencyCycle'
  | 'DependencyMissing'
  | 'DuplicateDeclaration'
  // git
  | 'GitAuthFailed'
  | 'GitBadUrl'
  | 'GitNotFound'
  | 'GitRefMissing'
  | 'GitUnreachable'
  | 'GitProtocolError'
  | 'GitPushRefused'
  | 'GitTimedOut'
  | 'GitTooLarge'
  | 'GitUnsafePath'
  | 'GitHostUnknown'
  | 'GitStoreDamaged'
  // charts
  | 'ChartAuthFailed'
  | 'ChartFetchFailed'
  | 'ChartNotFound'
  | 'ChartRefused'
  | 'ChartUnverified'
  // downloads
  | 'DownloadAuthFailed'
  | 'DownloadFailed'
  | 'DownloadNotFound'
  | 'DownloadRefused'
  // registry, mirror
  | 'RegistryAuthFailed'
  | 'RegistryFailed'
  | 'RegistryNotFound'
  | 'RegistryRefused'
  | 'RegistryTimedOut'
  | 'ImageDamaged'
  | 'ImageInvalid'
  | 'ArchiveInvalid'
  // expansion
  | 'ExpansionInvalid'
  // render
  | 'RenderFailed'
  | 'RenderRefused'
  | 'ValuesRefused'
  | 'SourceMissing'
  // release
  | 'HookFailed'
  | 'ReleaseExists'
  | 'ReleaseUnreadable'
  // cluster
  | 'KubeConfigInvalid'
  | 'KubeUnreachable'
  | 'KubeUnauthorized'
  | 'KubeForbidden'
  | 'KubeNotFound'
  | 'KubeKindUnknown'
  | 'KubeConflict'
  | 'KubeAlreadyExists'
  | 'KubeApplyConflict'
  | 'KubeInvalid'
  | 'KubeGone'
  | 'KubeThrottled'
  | 'KubeServerError'
  | 'KubeTimedOut'
  | 'KubeBadAnswer'
  // converge
  | 'ApplyFailed'
  | 'OwnershipConflict'
  | 'HealthTimedOut'
  | 'PruneHeld'
  | 'LeaseLost'
  // forge
  | 'ForgeAuthFailed'
  | 'ForgeRefused'
  | 'ForgeLimited'
  | 'ForgeUnreachable'
  | 'ForgeBadAnswer'
  // cli
  | 'CommandRefused'
  // playground
  | 'PlaygroundFailed'
  // runtime
  | 'DeadlineExceeded'
  // anything else is a bug
  | 'Internal';

export interface ErrorDetails {
  cause?: unknown;
  /** Facts for machines: file, line, object, status… Never a secret. */
  data?: Record<string, unknown>;
  /** False when trying again unchanged can't help (a user must change something). Default true. */
  retry?: boolean;
  /** The server asked to wait this long before the next try. */
  retryAfterMs?: number;
}

/** The one error class. The message says what happened, to what, and what to do. */
export class EspalierError extends Error {
  readonly code: ErrorCode;
  readonly data: Record<string, unknown>;
  readonly retry: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'EspalierError';
    this.code = code;
    this.data = details.data ?? {};
    this.retry = details.retry ?? true;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** True for an EspalierError, of that code when one is given. */
export function isError(error: unknown, ...codes: ErrorCode[]): error is EspalierError {
  return error instanceof EspalierError && (codes.length === 0 || codes.includes(error.code));
}

/** What went wrong in one line, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
