/** What is wrong with a package, for a person to correct: the message says what, and how. */
export interface PackageFault {
  /** In the package. */
  file: string;
  /** From 1. */
  line: number;
  column: number;
  message: string;
}

/** More than this many help nobody, and finding the place of each takes time. */
export const MOST_FAULTS = 1000;

export function faultOf(file: string, message: string): PackageFault {
  return { file, line: 1, column: 1, message };
}
