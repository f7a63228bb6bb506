export interface Violation {
  /** JSON pointer to the value, or to the mapping that lacks a field. */
  path: string;
  /** What was found and what was expected, with the field's name, for people. */
  message: string;
  /** What was expected, alone: `a duration such as 30s, 5m or 1h30m`. */
  expected: string;
}
