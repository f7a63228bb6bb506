import type { Plugin, Sync } from '../api/index.ts';
import { CONDITION } from '../api/names.ts';
import type { KubeObject } from '../api/objects.ts';
import { plain } from '../plan/plain.ts';

/** What a person lists and steers. */
export type Ours = Sync | Plugin;

/** What came from the API server for one of our kinds; its schema was checked there. */
export function asOurs(object: KubeObject): Ours {
  return object as Ours;
}

export function isSync(object: KubeObject): object is Sync {
  return object.kind === 'Sync';
}

/** The status of a condition; undefined while nobody has looked. */
export function conditionOf(object: Ours, type: string): 'True' | 'False' | 'Unknown' | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type)?.status;
}

export function isReady(object: Ours): boolean {
  return conditionOf(object, CONDITION.Ready) === 'True' && isCurrent(object);
}

/** Whether the status is about the declaration as it is now. Suspending changes the declaration, and nothing else. */
export function isCurrent({ metadata, status, spec }: Ours): boolean {
  if (spec.suspend === true) return true;
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

/** Why it is as it is, in one line that is safe to show; that its forge can't be told is a part of it. */
export function whyOf(object: Ours): string {
  const unanswered = unansweredOf(object);
  const why = standingOf(object);
  return unanswered === undefined ? why : `${why}; its forge can't be told: ${plain(unanswered)}`;
}

function standingOf(object: Ours): string {
  const { metadata, status, spec } = object;
  const message = plain(status?.message ?? '');
  if (metadata.deletionTimestamp !== undefined && status?.phase !== 'Removing') {
    const finalizers = metadata.finalizers ?? [];
    return finalizers.length === 0 ? 'is being deleted' : `is being deleted; waits for ${plain(finalizers.join(', '))}`;
  }
  if (status?.phase === undefined) return spec.suspend === true ? 'suspended' : 'not looked at yet';
  if (spec.suspend === true && status.phase !== 'Suspended') return `suspended; before: ${message}`;
  if (!isCurrent(object)) return `its last change was not looked at yet; before: ${message}`;
  return message;
}

function unansweredOf({ status }: Ours): string | undefined {
  return status?.conditions?.find(({ type, status: is }) => type === CONDITION.Unanswered && is === 'True')?.message;
}

/** As people read commits: enough to find one by. */
export function shortCommit(commit: string | undefined): string {
  return commit === undefined ? '' : plain(commit.slice(0, 10));
}
