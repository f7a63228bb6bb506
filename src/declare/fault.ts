/** Something wrong in a declaration, for a person to correct: where it is, what was found and what was expected. */
export interface Fault {
  code: FaultCode;
  file: string;
  /** From 1. */
  line: number;
  column: number;
  message: string;
  /** JSON pointer into the declaration: `/spec/timeout`. */
  path?: string;
  expected?: string;
  /** The object that is refused because of it: `Plugin espalier-system/cert-manager`. */
  object?: string;
}

export type FaultCode = 'InvalidDeclaration' | 'DuplicateDeclaration' | 'SourceMissing';

/** A place in one text, from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A fault of a text that does not know yet which file it is. */
export interface TextFault extends Place {
  message: string;
  path?: string;
  expected?: string;
}

/** `plugins/web.yaml:12:5: spec.timeout is "-5m", expected a duration such as 30s`. */
export function describeFault(fault: Fault): string {
  const about = fault.object === undefined ? '' : `${fault.object}: `;
  return `${fault.file}:${fault.line}:${fault.column}: ${about}${fault.message}`;
}
