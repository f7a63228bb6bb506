import type { Logger } from 'pino';
import type { Extension, ExtensionInstance, KubeObject, ObjectRef, Plugin, Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { EventRecorder } from '../cluster/events.ts';
import type { OwnedIndex } from '../converge/owned.ts';
import type { KindWatches } from '../converge/watches.ts';
import type { Clock } from '../runtime/clock.ts';
import type { CatalogueFacts } from './catalogue-facts.ts';
import type { ChartSources } from './chart-sources.ts';
import type { Crowd } from './crowd.ts';
import type { Declared } from './declared.ts';
import type { Definitions } from './definitions.ts';
import type { Dependents } from './dependents.ts';
import type { Facts } from './facts.ts';
import type { FullLooks } from './full-looks.ts';
import type { InputsAnswer, KnownInputs } from './inputs.ts';
import type { Intents } from './intents.ts';
import type { KeptNotes } from './kept-notes.ts';
import type { Metrics } from './metrics.ts';
import type { OutsideObjects } from './outside.ts';
import type { OwnSources } from './own-sources.ts';
import type { RenderWaiters } from './render-waiters.ts';
import type { RenderCache, Rendered } from './rendered.ts';
import type { RepairGuard } from './repair-guard.ts';
import type { Repaired } from './repaired.ts';
import type { Selections } from './selections.ts';
import type { Store, Stored } from './store.ts';
import type { TakenNames } from './taken.ts';
import type { CarriedOut } from './touches.ts';

/** Everything that the controllers share. `main.ts` builds the real ones. */
export interface Parts {
  /** Refuses every write when the lease is not provably ours. */
  client: KubeClient;
  clock: Clock;
  log: Logger;
  plugins: Store<Plugin>;
  syncs: Store<Sync>;
  extensions: Store<Extension>;
  instances: Store<ExtensionInstance>;
  dependents: Dependents;
  declared: Declared;
  owned: OwnedIndex;
  watches: KindWatches;
  definitions: Definitions;
  outside: OutsideObjects;
  selections: Selections;
  ownSources: OwnSources;
  chartSources: ChartSources;
  rendered: RenderCache;
  renderWaiters: RenderWaiters;
  repairs: RepairGuard;
  repaired: Repaired;
  carried: CarriedOut;
  taken: TakenNames;
  intents: Intents;
  crowd: Crowd;
  fullLooks: FullLooks;
  kept: KeptNotes;
  events: EventRecorder;
  metrics: Metrics;
  kubernetes(): string | undefined;
  /** What the cluster says to the catalogue now. For who must not make anybody ask a registry: `untrusted`. */
  catalogue(whose?: 'untrusted'): CatalogueFacts;
  /** The store of a kind of ours. */
  storeFor(kind: string): Store<Stored> | undefined;
  inputs(plugin: Plugin, facts: Facts): InputsAnswer;
  /** Renders a Plugin to its finished objects: the one way, for the agent, previews and the command line. */
  render(plugin: Plugin, facts: Facts, inputs: KnownInputs, signal: AbortSignal): Promise<Rendered>;
  /** The agent's own Deployment, namespace, accounts and kinds: never removed by the agent. */
  isAgent(object: ObjectRef | KubeObject): boolean;
  wakePlugin(key: string, options?: { priority?: number; after?: number }): void;
  wakeSync(key: string, options?: { after?: number; poll?: boolean }): void;
}
