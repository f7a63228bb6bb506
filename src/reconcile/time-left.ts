import { CONDITION, findCondition, type Plugin, parseDuration } from '../api/index.ts';

/**
 * How many milliseconds a Plugin has left to become healthy with these inputs. Counted from when it began to make progress
 * on them, waiting not included; that time is in its conditions, so a restart keeps it. Once it ran out it stays so,
 * until health or a change of the Plugin ends it.
 */
export function timeLeft({ metadata, spec, status }: Plugin, inputsKey: string, now: number): number {
  const limit = parseDuration(spec.timeout);
  if (status?.attempted?.key !== inputsKey) return limit;
  const ready = findCondition(status.conditions, CONDITION.Ready);
  if (ready?.reason === 'HealthTimedOut' && ready.observedGeneration === metadata.generation) return 0;
  const since = findCondition(status.conditions, CONDITION.Reconciling)?.lastTransitionTime;
  if (status.phase !== 'Progressing' || since === undefined) return limit;
  return Date.parse(since) + limit - now;
}
