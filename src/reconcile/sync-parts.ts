import type { AnswerMemories } from './answer-memory.ts';
import type { ForgeTroubles } from './forge-trouble.ts';
import type { Forges } from './forges.ts';
import type { Parts } from './parts.ts';
import type { Schedules } from './schedules.ts';
import type { Sources } from './sources.ts';
import type { SyncMemories } from './sync-memory.ts';

/** What the Sync controller has beyond what all controllers share. */
export interface SyncParts extends Parts {
  sources: Sources;
  memories: SyncMemories;
  schedules: Schedules;
  forges: Forges;
  answers: AnswerMemories;
  troubles: ForgeTroubles;
  /** Under which address people reach what the agent shows, without a slash at the end. */
  pageUrl: string | undefined;
  /** Something that the forge is told about may have changed. */
  wakeAnswers(sync: string): void;
}
