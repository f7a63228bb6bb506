import {
  CONDITION,
  type Condition,
  type DriftEntry,
  type FailedLog,
  type HistoryEntry,
  type InventoryEntry,
  type Plugin,
  type PluginStatus,
  type Revision,
  removeCondition,
  setCondition,
  timestamp,
} from '../api/index.ts';
import { beginsAtGates } from './gates.ts';

const HISTORY_LENGTH = 10;
const DRIFT_LENGTH = 20;
const DRIFT_FIELDS = 10;
const IMAGES_LENGTH = 100;

/** How a reconcile left the Plugin. Everything that a status says of phase and conditions follows from this. */
export type PluginOutcome =
  /** `nested`: it has Plugins in it, which go on. */
  | { phase: 'Suspended'; nested: boolean }
  | { phase: 'Waiting'; reason: string; waitingFor: readonly string[] }
  | { phase: 'Held'; reason: string; message: string }
  /** `waitingFor`: it waited too long, and waits on. */
  | {
      phase: 'Failed';
      reason: string;
      message: string;
      userMustAct: boolean;
      applied: boolean;
      waitingFor?: readonly string[];
    }
  | { phase: 'Progressing'; message: string }
  | { phase: 'Ready'; message: string }
  | { phase: 'Disabled'; message: string }
  | { phase: 'Removing'; message: string };

/** What a reconcile learnt, beside its outcome. What is left out stays as it was. */
export interface PluginFindings {
  revision?: Revision;
  inventory?: readonly InventoryEntry[];
  drift?: readonly DriftEntry[];
  attempted?: PluginStatus['attempted'];
  release?: PluginStatus['release'] | 'none';
  resolved?: PluginStatus['resolved'];
  notDowngraded?: readonly string[];
  imagesLeft?: readonly string[];
  logs?: readonly FailedLog[];
}

/** The next status. Pure: the same outcome over the same status changes nothing, so that a no-op reconcile writes nothing. */
export function nextPluginStatus(
  plugin: Plugin,
  outcome: PluginOutcome | undefined,
  findings: PluginFindings,
  now: number,
): PluginStatus {
  const before = plugin.status ?? {};
  const next: PluginStatus = { ...before };
  if (findings.revision !== undefined) next.revision = findings.revision;
  if (findings.inventory !== undefined) next.inventory = [...findings.inventory];
  if (findings.attempted !== undefined) next.attempted = findings.attempted;
  if (findings.release === 'none') delete next.release;
  else if (findings.release !== undefined) next.release = findings.release;
  if (findings.resolved !== undefined) next.resolved = findings.resolved;
  if (findings.notDowngraded !== undefined) {
    if (findings.notDowngraded.length > 0) next.notDowngraded = [...findings.notDowngraded];
    else delete next.notDowngraded;
  }
  if (findings.imagesLeft !== undefined) {
    if (findings.imagesLeft.length > 0) next.imagesLeft = findings.imagesLeft.slice(0, IMAGES_LENGTH);
    else delete next.imagesLeft;
  }
  if (findings.logs !== undefined) next.logs = [...findings.logs];
  if (outcome?.phase === 'Ready' || outcome?.phase === 'Disabled') delete next.logs;
  if (findings.drift !== undefined) setDrift(next, findings.drift, now);
  if (outcome === undefined) return next;
  if (plugin.metadata.generation !== undefined) next.observedGeneration = plugin.metadata.generation;
  next.phase = outcome.phase === 'Disabled' ? 'Ready' : outcome.phase;
  setMessage(next, messageOf(outcome));
  const waitingFor = 'waitingFor' in outcome ? outcome.waitingFor : undefined;
  if (waitingFor !== undefined) next.waitingFor = [...waitingFor];
  else delete next.waitingFor;
  if (outcome.phase !== 'Suspended') next.conditions = conditionsAfter(plugin, outcome, next, now);
  const history = historyAfter(before, next, outcome, plugin, now);
  if (history !== undefined) next.history = history;
  return next;
}

function conditionsAfter(plugin: Plugin, outcome: PluginOutcome, next: PluginStatus, now: number): Condition[] {
  const generation = plugin.metadata.generation;
  let conditions: Condition[] = plugin.status?.conditions ?? [];
  const set = (type: string, status: Condition['status'], reason: string, message: string): void => {
    conditions = setCondition(
      conditions,
      { type, status, reason, message, ...(generation === undefined ? {} : { observedGeneration: generation }) },
      now,
    );
  };
  const only = (type: string, when: boolean, reason: string, message: string): void => {
    if (when) set(type, 'True', reason, message);
    else conditions = removeCondition(conditions, type);
  };
  const { status: before } = plugin;
  const begins = before?.phase !== 'Progressing' || before.attempted?.key !== next.attempted?.key;
  // Its time tells since when there is progress on these inputs: see `timeLeft`.
  if (outcome.phase === 'Progressing' && begins) conditions = removeCondition(conditions, CONDITION.Reconciling);
  const message = messageOf(outcome);
  const reason = 'reason' in outcome ? outcome.reason : outcome.phase;
  // Its time tells since when nothing but gates is waited for: see `atGatesSince`.
  if (beginsAtGates(plugin, reason)) conditions = removeCondition(conditions, CONDITION.Waiting);
  const ready = outcome.phase === 'Ready' || outcome.phase === 'Disabled';
  set(CONDITION.Ready, ready ? 'True' : 'False', reason, message);
  const couldNotWrite = outcome.phase === 'Failed' && !outcome.applied;
  const isApplied = !couldNotWrite && next.revision?.key !== undefined && next.revision.key === next.attempted?.key;
  if (isApplied || outcome.phase === 'Ready')
    set(CONDITION.Applied, 'True', 'Applied', 'every declared object is applied');
  else if (outcome.phase === 'Progressing') set(CONDITION.Applied, 'Unknown', 'Progressing', message);
  else if (outcome.phase === 'Failed') set(CONDITION.Applied, 'False', reason, message);
  if (outcome.phase === 'Ready') set(CONDITION.Healthy, 'True', 'Healthy', message);
  else if (outcome.phase === 'Progressing') set(CONDITION.Healthy, 'Unknown', 'Progressing', message);
  else if (outcome.phase === 'Failed' && outcome.applied) set(CONDITION.Healthy, 'False', reason, message);
  else if (outcome.phase === 'Disabled')
    conditions = removeCondition(removeCondition(conditions, CONDITION.Applied), CONDITION.Healthy);
  const drift = next.drift ?? [];
  set(
    CONDITION.Drifted,
    drift.length > 0 ? 'True' : 'False',
    drift.length > 0 ? 'ChangedByHand' : 'AsDeclared',
    describeDrift(drift),
  );
  only(CONDITION.Waiting, next.waitingFor !== undefined, reason, message);
  only(CONDITION.Held, outcome.phase === 'Held', reason, message);
  only(
    CONDITION.Reconciling,
    outcome.phase === 'Progressing' || outcome.phase === 'Waiting' || outcome.phase === 'Removing',
    reason,
    message,
  );
  only(CONDITION.Stalled, outcome.phase === 'Failed' && outcome.userMustAct, reason, message);
  return [...conditions];
}

function messageOf(outcome: PluginOutcome): string {
  if (outcome.phase === 'Suspended')
    return outcome.nested
      ? 'suspended: changes in Git are left alone; the Plugins in it go on, and drift of theirs is repaired'
      : 'suspended: changes in Git and drift are left alone';
  if (outcome.phase === 'Waiting') return `waiting for ${outcome.waitingFor.join(', ')}`;
  return outcome.message;
}

function setMessage(status: PluginStatus, message: string): void {
  if (message === '') delete status.message;
  else status.message = message;
}

function setDrift(status: PluginStatus, drift: readonly DriftEntry[], now: number): void {
  const since = new Map((status.drift ?? []).map((entry) => [entry.object, entry.since]));
  if (drift.length === 0) delete status.drift;
  else
    status.drift = drift.slice(0, DRIFT_LENGTH).map((entry) => ({
      ...entry,
      fields: entry.fields.slice(0, DRIFT_FIELDS),
      since: since.get(entry.object) ?? timestamp(now),
    }));
}

function describeDrift(drift: readonly DriftEntry[]): string {
  if (drift.length === 0) return 'the cluster is as declared';
  return drift
    .map((entry) => `${entry.object}: ${entry.fields.join(', ')}${entry.by === undefined ? '' : ` (by ${entry.by})`}`)
    .join('; ');
}

/** One line for each revision that ended, and for each new end of it; the newest first. */
function historyAfter(
  before: PluginStatus,
  next: PluginStatus,
  outcome: PluginOutcome,
  plugin: Plugin,
  now: number,
): HistoryEntry[] | undefined {
  if (outcome.phase !== 'Ready' && outcome.phase !== 'Failed') return undefined;
  const key = outcome.phase === 'Ready' ? next.revision?.key : next.attempted?.key;
  if (key === undefined) return undefined;
  const last = before.history?.[0];
  if (last?.key === key && last.outcome === outcome.phase) return undefined;
  const commit = plugin.spec.source.git?.commit ?? next.revision?.commit;
  const entry: HistoryEntry = { key, outcome: outcome.phase, at: timestamp(now) };
  if (commit !== undefined) entry.commit = commit;
  if (outcome.phase === 'Ready') {
    const { version, chart, app } = next.revision ?? {};
    if (version !== undefined) entry.version = version;
    if (chart !== undefined) entry.chart = chart;
    if (app !== undefined) entry.app = app;
  }
  if (next.release !== undefined) entry.revision = next.release.revision;
  return [entry, ...(before.history ?? [])].slice(0, HISTORY_LENGTH);
}
