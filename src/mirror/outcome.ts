/** What became of one image or chart, or of a package of them. */
export type Outcome =
  | { state: 'there' }
  | { state: 'copied' }
  /** A dry run: it would be. */
  | { state: 'missing' }
  | { state: 'failed'; why: string };

export interface Result {
  kind: 'image' | 'chart' | 'package';
  from: string;
  to: string;
  digest?: string;
  outcome: Outcome;
}

export type State = Outcome['state'];

export function countOf(results: readonly Result[], state: State): number {
  return results.filter(({ outcome }) => outcome.state === state).length;
}
