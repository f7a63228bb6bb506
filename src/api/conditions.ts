import type { Condition } from './kinds/status-parts.ts';

export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** An instant as Kubernetes writes it: whole seconds, UTC. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/**
 * The conditions with one set, at its old place or at the end. `lastTransitionTime` moves to `now` (milliseconds) only
 * when the status flips. When nothing differs the very same list comes back, so that callers can skip a write.
 */
export function setCondition(conditions: Condition[] | undefined, update: ConditionUpdate, now: number): Condition[] {
  const old = findCondition(conditions, update.type);
  const lastTransitionTime = old?.status === update.status ? old.lastTransitionTime : timestamp(now);
  const condition: Condition = { ...update, lastTransitionTime };
  if (old === undefined) return [...(conditions ?? []), condition];
  if (sameCondition(old, condition)) return conditions ?? [];
  return (conditions ?? []).map((other) => (other.type === update.type ? condition : other));
}

/** The conditions without one; the very same list when it was not there. */
export function removeCondition(conditions: Condition[] | undefined, type: string): Condition[] {
  if (findCondition(conditions, type) === undefined) return conditions ?? [];
  return (conditions ?? []).filter((condition) => condition.type !== type);
}

export function findCondition(conditions: Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

function sameCondition(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.observedGeneration === b.observedGeneration
  );
}
