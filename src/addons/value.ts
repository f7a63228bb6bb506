import { type Kind, OTHER } from './kinds.ts';

/** A value in a template, and how it is written otherwise. */
export interface Value {
  kind: Kind;
  /** The root: writes its parameters instead. */
  narrow(): void;
  /** An integer: makes it one. */
  wrap(): void;
  /** The root: writes parameters and built-in objects in one map, as the add-on had them. */
  all(): void;
}

/** Of it nothing is known, and nothing has to be written otherwise. */
export const NOTHING: Value = { kind: OTHER, narrow() {}, wrap() {}, all() {} };

/** Where a value is used up: the root stands for the parameters, and an integer must be one. */
export function consume(value: Value): void {
  if (value.kind.is === 'root') value.narrow();
  if (value.kind.is === 'integer') value.wrap();
}

/** Where a value is passed on: from there an integer is one. */
export function settled(value: Value): Kind {
  if (value.kind.is !== 'integer') return value.kind;
  value.wrap();
  return OTHER;
}
