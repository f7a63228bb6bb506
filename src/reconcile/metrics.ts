/** What this room tells about itself. Who keeps count is not its business. */
export interface Metrics {
  repaired(mode: 'repair' | 'report', fields: number): void;
  rendered(kind: string, seconds: number): void;
  fetched(outcome: 'unchanged' | 'fetched' | 'failed', seconds: number): void;
  /** A commit status reached the forge. */
  answered(): void;
  reconciled(kind: string, outcome: string, seconds: number): void;
}
