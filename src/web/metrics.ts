import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';

/** What the rooms may say about themselves. They know these verbs only; names and labels are settled here. */
export interface Metrics {
  reconciled(kind: string, outcome: string, seconds: number): void;
  requested(verb: string, kind: string, status: number, seconds: number): void;
  repaired(mode: 'repair' | 'report', fields: number): void;
  rendered(kind: string, seconds: number): void;
  answered(): void;
  fetched(outcome: 'unchanged' | 'fetched' | 'failed', seconds: number): void;
}

/** Values that are read when somebody scrapes, so that keeping them up to date costs nothing at rest. */
export interface Gauges {
  queues(): { kind: string; depth: number; oldestSeconds: number; running: number; delayed: number }[];
  plugins(): Record<string, number>;
  syncs(): { sync: string; ready: boolean; held: number; commitAgeSeconds: number | undefined }[];
  drifted(): number;
  heldDeletions(): number;
  ownedObjects(): number;
  watches(): number;
  leading(): boolean;
}

/** By default the event loop is woken a hundred times a second to be measured: that would be all that it does at rest. */
const AT_REST = { eventLoopMonitoringPrecision: 1_000, eventLoopUtilizationTimeout: 5_000 };
const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300];

export function createMetrics(gauges: Gauges): { metrics: Metrics; text(): Promise<string>; contentType: string } {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'espalier_', ...AT_REST });

  const reconciles = new Histogram({
    name: 'espalier_reconcile_duration_seconds',
    help: 'Time of one reconcile.',
    labelNames: ['kind', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const requests = new Histogram({
    name: 'espalier_api_request_duration_seconds',
    help: 'Requests to the API server.',
    labelNames: ['verb', 'kind', 'status'],
    buckets: SECONDS,
    registers,
  });
  const repairs = new Counter({
    name: 'espalier_drift_repairs_total',
    help: 'Objects whose drift was repaired or reported.',
    labelNames: ['mode'],
    registers,
  });
  const repairedFields = new Counter({
    name: 'espalier_drift_fields_total',
    help: 'Fields that had drifted.',
    labelNames: ['mode'],
    registers,
  });
  const renders = new Histogram({
    name: 'espalier_render_duration_seconds',
    help: 'Time of one rendering.',
    labelNames: ['kind'],
    buckets: SECONDS,
    registers,
  });
  const fetches = new Histogram({
    name: 'espalier_git_poll_duration_seconds',
    help: 'Polls of Git.',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers,
  });

  gauge('espalier_queue_depth', 'Keys that could run now.', ['kind'], (set) =>
    gauges.queues().forEach((q) => void set({ kind: q.kind }, q.depth)),
  );
  gauge('espalier_queue_oldest_seconds', 'Age of the oldest key that could run now.', ['kind'], (set) =>
    gauges.queues().forEach((q) => void set({ kind: q.kind }, q.oldestSeconds)),
  );
  gauge('espalier_queue_running', 'Keys that run now.', ['kind'], (set) =>
    gauges.queues().forEach((q) => void set({ kind: q.kind }, q.running)),
  );
  gauge('espalier_queue_delayed', 'Keys that wait for their time.', ['kind'], (set) =>
    gauges.queues().forEach((q) => void set({ kind: q.kind }, q.delayed)),
  );
  gauge('espalier_plugins', 'Plugins by phase.', ['phase'], (set) =>
    Object.entries(gauges.plugins()).forEach(([phase, count]) => void set({ phase }, count)),
  );
  gauge('espalier_sync_ready', '1 when a Sync is ready.', ['sync'], (set) =>
    gauges.syncs().forEach((s) => void set({ sync: s.sync }, s.ready ? 1 : 0)),
  );
  gauge('espalier_sync_commit_age_seconds', 'Age of the applied commit.', ['sync'], (set) =>
    gauges.syncs().forEach((s) => void (s.commitAgeSeconds !== undefined && set({ sync: s.sync }, s.commitAgeSeconds))),
  );
  const answers = new Counter({
    name: 'espalier_commit_statuses_total',
    help: 'Commit statuses that reached a forge.',
    registers,
  });
  gauge('espalier_held_deletions', 'Removals that wait for consent.', [], (set) => set({}, gauges.heldDeletions()));
  gauge('espalier_drifted_objects', 'Objects that differ from what is declared.', [], (set) =>
    set({}, gauges.drifted()),
  );
  gauge('espalier_owned_objects', 'Live objects that Plugins own.', [], (set) => set({}, gauges.ownedObjects()));
  gauge('espalier_watches', 'Open watches.', [], (set) => set({}, gauges.watches()));
  gauge('espalier_leader', '1 when this replica acts.', [], (set) => set({}, gauges.leading() ? 1 : 0));

  function gauge(
    name: string,
    help: string,
    labelNames: string[],
    read: (set: (labels: Record<string, string>, value: number) => void) => void,
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        read((labels, value) => this.set(labels, value));
      },
    });
  }

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    metrics: {
      reconciled: (kind, outcome, seconds) => reconciles.observe({ kind, outcome }, seconds),
      requested: (verb, kind, status, seconds) => requests.observe({ verb, kind, status: String(status) }, seconds),
      repaired: (mode, fields) => {
        repairs.inc({ mode });
        repairedFields.inc({ mode }, fields);
      },
      answered: () => answers.inc(),
      rendered: (kind, seconds) => renders.observe({ kind }, seconds),
      fetched: (outcome, seconds) => fetches.observe({ outcome }, seconds),
    },
  };
}
