import type { Charts } from '../charts/charts.ts';
import type { Deliveries } from '../forge/deliveries.ts';
import type { ClusterView } from '../render/cluster-view.ts';
import type { AnswerMemories } from './answer-memory.ts';
import type { ForgeTroubles } from './forge-trouble.ts';
import type { Forges } from './forges.ts';
import type { KubegemsObjects } from './kubegems/objects.ts';
import type { Parts } from './parts.ts';
import type { Pulls } from './pulls/pulls.ts';
import type { Schedules } from './schedules.ts';
import type { Sources } from './sources.ts';
import type { SyncMemories } from './sync-memory.ts';
import type { SyncStatuses } from './sync-statuses.ts';

/** What the Sync controller has beyond what all controllers share. */
export interface SyncParts extends Parts {
  sources: Sources;
  memories: SyncMemories;
  schedules: Schedules;
  statuses: SyncStatuses;
  forges: Forges;
  answers: AnswerMemories;
  troubles: ForgeTroubles;
  pulls: Pulls;
  /** This agent looks after one namespace only: what belongs to nobody there is another's to tell about. */
  isConfined: boolean;
  /** Of the Plugins of instances that people made: the fields that were written last. */
  made: Map<string, string | undefined>;
  deliveries: Deliveries;
  charts: Charts;
  kubegems: KubegemsObjects;
  view: ClusterView;
  /** Under which address people reach what the agent shows, without a slash at the end. */
  pageUrl: string | undefined;
  /** Somebody should look at a KubeGems object, or at whether they are looked after (`WHETHER`). */
  wakeKubegems(key: string, options?: { after?: number }): void;
  /** Something that the forge is told about may have changed. */
  wakeAnswers(sync: string, options?: { after?: number }): void;
  /** Somebody should look at the pull requests of a Sync. */
  wakePulls(sync: string, options?: { after?: number }): void;
  /** One pull request should be planned again, if that changes anything. */
  wakePull(sync: string, number: number, options?: { after?: number }): void;
}
