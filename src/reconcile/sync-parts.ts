import type { Parts } from './parts.ts';
import type { Schedules } from './schedules.ts';
import type { Sources } from './sources.ts';
import type { SyncMemories } from './sync-memory.ts';

/** What the Sync controller has beyond what all controllers share. */
export interface SyncParts extends Parts {
  sources: Sources;
  memories: SyncMemories;
  schedules: Schedules;
}
