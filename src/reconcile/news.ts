import { CONDITION, type KubeObject, type Plugin, type Sync, type SyncStatus } from '../api/index.ts';

export interface PluginNews {
  /** Something that people or a Sync write changed: the Plugin must be looked at. */
  declared: boolean;
  /** Something that others look at changed: readiness, what is applied, existence. */
  any: boolean;
  /** Other inputs are applied than before. */
  applied: boolean;
  /** It owns less than before, or is gone: who waited for its removal may go on. */
  released: boolean;
}

/** What a new version of a Plugin means to others. Our own status writes must not wake the Plugin they are about. */
export function pluginNews(before: Plugin | undefined, after: Plugin | undefined): PluginNews {
  if (before === undefined || after === undefined)
    return { declared: true, any: true, applied: true, released: after === undefined };
  const declared = isDeclaredAnew(before, after);
  const released = (after.status?.inventory ?? []).length < (before.status?.inventory ?? []).length;
  const status = summary(before) !== summary(after);
  const applied = before.status?.revision?.key !== after.status?.revision?.key;
  return { declared, any: declared || status || released, applied, released };
}

/** Whether somebody wrote another declaration, approval or label; what we write into a status is none of this. */
export function isDeclaredAnew(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return (
    before.metadata.uid !== after.metadata.uid ||
    before.metadata.generation !== after.metadata.generation ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !sameMap(before.metadata.annotations, after.metadata.annotations) ||
    !sameMap(before.metadata.labels, after.metadata.labels)
  );
}

/** Whether a Plugin is ready or gone now, of a Sync that is not known to be ready at its commit. */
export function mayEndRollout(
  before: Plugin | undefined,
  after: Plugin | undefined,
  sync: SyncStatus | undefined,
  head: string | undefined,
): boolean {
  const isDone = after === undefined || (after.status?.phase === 'Ready' && before?.status?.phase !== 'Ready');
  return isDone && (sync?.phase !== 'Ready' || sync.commit !== head);
}

export interface SyncNews {
  declared: boolean;
  /** What its Plugins take from it changed. */
  facts: boolean;
}

export function syncNews(before: Sync | undefined, after: Sync | undefined): SyncNews {
  if (before === undefined || after === undefined) return { declared: true, facts: true };
  const facts = before.metadata.uid !== after.metadata.uid || before.metadata.generation !== after.metadata.generation;
  const approved = !sameMap(before.metadata.annotations, after.metadata.annotations);
  const declared = facts || approved || before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp;
  return { declared, facts: facts || approved };
}

/** Of messages only those count that others quote: what is said on the way (`1 of 3 pods`) is news to nobody else. */
function summary(plugin: Plugin): string {
  const { status } = plugin;
  const ready = status?.conditions?.find((one) => one.type === CONDITION.Ready);
  return JSON.stringify([
    status?.phase,
    status?.phase === 'Progressing' || status?.phase === 'Waiting' ? undefined : status?.message,
    status?.observedGeneration,
    status?.revision?.key,
    ready?.status,
    ready?.reason,
    status?.drift?.length,
  ]);
}

function sameMap(a: Record<string, string> | undefined, b: Record<string, string> | undefined): boolean {
  if (a === b) return true;
  const [left, right] = [Object.entries(a ?? {}), b ?? {}];
  return left.length === Object.keys(right).length && left.every(([name, value]) => right[name] === value);
}
