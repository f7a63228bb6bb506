import {
  CONDITION,
  type Condition,
  type Plugin,
  removeCondition,
  type Sync,
  type SyncFault,
  type SyncInventoryEntry,
  type SyncStatus,
  setCondition,
} from '../api/index.ts';
import { someOf } from '../report/line.ts';

const FAULTS_LISTED = 50;
const HELD_LISTED = 50;

/** How a look at Git and at the Plugins went. */
export interface SyncFindings {
  /** What was seen at the head; left out when Git could not be asked. */
  observed?: { commit: string; ref?: string };
  /** What is written to the cluster. */
  commit?: string;
  inventory?: readonly SyncInventoryEntry[];
  faults?: readonly SyncFault[];
  /** What this cluster can't have though every file is right: told like a fault, but it holds nothing up. */
  misfits?: readonly SyncFault[];
  held?: { commit: string; reason: string; objects: string[] } | 'none';
  /** What outstanding removals are measured against. */
  base?: NonNullable<SyncStatus['base']> | 'none';
  approved?: string;
  kept?: readonly string[];
  /** Git could not be read, or the API server refused: the last good state is held. */
  failure?: { reason: string; message: string; userMustAct: boolean };
  /** Removals that are under way, or wait for something other than consent. */
  removalsWait?: string;
  /** What is no longer declared and won't be removed, and why. */
  stays?: readonly string[];
}

export interface PluginTally {
  total: number;
  ready: string[];
  waiting: string[];
  failed: { name: string; message: string }[];
  held: string[];
  drifted: string[];
}

/** `stateOf` says whether a Plugin has reached what it declares *now*; phases alone may be about an older generation. */
export function tally(plugins: Iterable<Plugin>, isReady: (plugin: Plugin) => boolean): PluginTally {
  const counts: PluginTally = { total: 0, ready: [], waiting: [], failed: [], held: [], drifted: [] };
  for (const plugin of plugins) {
    counts.total++;
    const { name } = plugin.metadata;
    if ((plugin.status?.drift ?? []).length > 0) counts.drifted.push(name);
    const current = plugin.status?.observedGeneration === plugin.metadata.generation;
    if (isReady(plugin)) counts.ready.push(name);
    else if (current && plugin.status?.phase === 'Failed')
      counts.failed.push({ name, message: plugin.status.message ?? '' });
    else if (current && plugin.status?.phase === 'Held') counts.held.push(name);
    else counts.waiting.push(name);
  }
  return counts;
}

/** The next status of a Sync. Pure; the same findings over the same status change nothing. */
export function nextSyncStatus(
  sync: Sync,
  findings: SyncFindings | 'suspended',
  counts: PluginTally,
  now: number,
  /** Why the forge could not be told. */
  unanswered?: { reason: string; message: string },
): SyncStatus {
  const before = sync.status ?? {};
  const next: SyncStatus = { ...before };
  if (sync.metadata.generation !== undefined) next.observedGeneration = sync.metadata.generation;
  if (findings === 'suspended')
    return { ...next, phase: 'Suspended', message: 'suspended: nothing new is taken from Git' };
  if (findings.observed !== undefined) next.observed = findings.observed;
  if (findings.commit !== undefined) next.commit = findings.commit;
  if (findings.inventory !== undefined) next.inventory = [...findings.inventory];
  if (findings.approved !== undefined) next.approved = findings.approved;
  if (findings.kept !== undefined) setList(next, 'kept', [...findings.kept]);
  if (findings.faults !== undefined)
    setList(next, 'faults', [...findings.faults, ...(findings.misfits ?? [])].slice(0, FAULTS_LISTED));
  if (findings.held === 'none') delete next.held;
  else if (findings.held !== undefined)
    next.held = { ...findings.held, objects: findings.held.objects.slice(0, HELD_LISTED) };
  if (findings.base === 'none') delete next.base;
  else if (findings.base !== undefined) next.base = findings.base;
  next.plugins = {
    total: counts.total,
    ready: counts.ready.length,
    waiting: counts.waiting.length,
    failed: counts.failed.length,
    held: counts.held.length,
  };
  const verdict = judge(next, findings, counts);
  next.phase = verdict.phase;
  next.message = verdict.message;
  next.conditions = conditionsAfter(sync, next, verdict, now, unanswered);
  return next;
}

interface Judgement {
  phase: NonNullable<SyncStatus['phase']>;
  reason: string;
  message: string;
  userMustAct: boolean;
}

function judge(next: SyncStatus, findings: SyncFindings, counts: PluginTally): Judgement {
  const say = (phase: Judgement['phase'], reason: string, message: string, userMustAct = false): Judgement => ({
    phase,
    reason,
    message,
    userMustAct,
  });
  if (findings.failure !== undefined) {
    const held = next.commit === undefined ? '' : `; the state of ${shortCommit(next.commit)} is held`;
    return say('Failed', findings.failure.reason, `${findings.failure.message}${held}`, findings.failure.userMustAct);
  }
  const faults = next.faults ?? [];
  const [fault] = faults;
  if (fault !== undefined) {
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
    return say('Failed', 'InvalidDeclaration', `${describeFault(fault)}${more}`, true);
  }
  if (next.held !== undefined) return say('Held', 'PruneHeld', next.held.reason);
  if (next.commit === undefined) return say('Pending', 'Pending', 'not looked at yet');
  const tallied = describeTally(counts, next.commit);
  const summary = findings.removalsWait === undefined ? tallied : `${tallied}; ${findings.removalsWait}`;
  if (counts.failed.length > 0) return say('Failed', 'PluginFailed', summary);
  if (counts.held.length > 0) return say('Held', 'PluginHeld', summary);
  if (counts.waiting.length > 0) return say('Progressing', 'Progressing', summary);
  if (findings.removalsWait !== undefined) return say('Progressing', 'Progressing', summary);
  const kept = next.kept ?? [];
  const leftInPlace = [...(findings.stays ?? []), ...(kept.length === 0 ? [] : [someOf(kept)])];
  return say(
    'Ready',
    'Ready',
    leftInPlace.length === 0 ? summary : `${summary}; left in place: ${leftInPlace.join('; ')}`,
  );
}

/** `3 plugins ready, 1 waiting: cert-manager (at abc1234)`. */
export function describeTally(counts: PluginTally, commit: string): string {
  const parts = [`${counts.ready.length} ${counts.ready.length === 1 ? 'plugin' : 'plugins'} ready`];
  if (counts.waiting.length > 0) parts.push(`${counts.waiting.length} waiting: ${someOf(counts.waiting)}`);
  if (counts.held.length > 0) parts.push(`${counts.held.length} held: ${someOf(counts.held)}`);
  const [failed] = counts.failed;
  if (failed !== undefined) {
    const names = counts.failed.map((one) => one.name);
    parts.push(
      `${counts.failed.length} failed: ${counts.failed.length === 1 ? `${failed.name} (${failed.message})` : someOf(names)}`,
    );
  }
  return `${parts.join(', ')} at ${shortCommit(commit)}`;
}

function conditionsAfter(
  sync: Sync,
  next: SyncStatus,
  verdict: Judgement,
  now: number,
  unanswered: { reason: string; message: string } | undefined,
): Condition[] {
  let conditions: Condition[] = sync.status?.conditions ?? [];
  const generation = sync.metadata.generation === undefined ? {} : { observedGeneration: sync.metadata.generation };
  const set = (type: string, status: Condition['status'], reason: string, message: string): void => {
    conditions = setCondition(conditions, { type, status, reason, message, ...generation }, now);
  };
  const only = (type: string, when: boolean): void => {
    if (when) set(type, 'True', verdict.reason, verdict.message);
    else conditions = removeCondition(conditions, type);
  };
  set(CONDITION.Ready, verdict.phase === 'Ready' ? 'True' : 'False', verdict.reason, verdict.message);
  only(CONDITION.Held, next.held !== undefined || verdict.phase === 'Held');
  only(CONDITION.Reconciling, verdict.phase === 'Progressing' || verdict.phase === 'Pending');
  only(CONDITION.Stalled, verdict.phase === 'Failed' && verdict.userMustAct);
  if (unanswered === undefined) conditions = removeCondition(conditions, CONDITION.Unanswered);
  else set(CONDITION.Unanswered, 'True', unanswered.reason, unanswered.message);
  return [...conditions];
}

export function describeFault(fault: SyncFault): string {
  const place = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':');
  return `${place}: ${fault.object === undefined ? '' : `${fault.object}: `}${fault.message}`;
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 10);
}

function setList<K extends 'kept' | 'faults'>(status: SyncStatus, name: K, list: NonNullable<SyncStatus[K]>): void {
  if (list.length === 0) delete status[name];
  else status[name] = list;
}
