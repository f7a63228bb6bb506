import type { TarMember } from '../charts/tar-read.ts';
import type { Result } from '../mirror/outcome.ts';
import type { Registry } from '../registry/registry.ts';

/** What every material is pushed with. */
export interface Push {
  registry: Registry;
  /** What there is to be read, from its beginning each time. */
  members(): AsyncIterable<TarMember>;
  dryRun: boolean;
  signal: AbortSignal;
  /** Bytes that are to be sent, once that is known, and how many were. */
  onTotal(bytes: number): void;
  onBytes(count: number): void;
  onResult(result: Result): void;
}
