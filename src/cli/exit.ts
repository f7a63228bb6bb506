/** Thrown to leave with a code after everything has been said. Codes: 0 fine, 1 "there are differences" or "not ready", 2 failed, 64 wrong usage. */
export class ExitCode extends Error {
  static readonly failed = 2;
  static readonly usage = 64;
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}
