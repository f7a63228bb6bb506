import { CONDITION, type KubeObject, type Plugin } from '../api/index.ts';

export type Readiness = { ready: true } | { ready: false; why: string };

/**
 * Whether a Plugin has reached what it declares *now*. A status about an older generation, or about other inputs (key),
 * says nothing: dependents of a Plugin that is about to change wait for the change.
 */
export function readinessOf(plugin: Plugin | undefined, currentKey: string | undefined): Readiness {
  if (plugin === undefined) return { ready: false, why: 'does not exist' };
  if (plugin.metadata.deletionTimestamp !== undefined) return { ready: false, why: 'is being removed' };
  if (!plugin.spec.enabled) return { ready: false, why: 'is disabled' };
  const { status } = plugin;
  const condition = status?.conditions?.find((one) => one.type === CONDITION.Ready);
  if (condition === undefined || status?.observedGeneration !== plugin.metadata.generation)
    return { ready: false, why: 'not applied yet' };
  if (condition.status !== 'True') return { ready: false, why: shorten(condition.message) };
  if (condition.reason === 'Disabled') return { ready: false, why: shorten(condition.message) };
  if (currentKey !== undefined && status?.revision?.key !== currentKey)
    return { ready: false, why: 'its change is not applied yet' };
  return { ready: true };
}

/** Whether somebody else has set a condition on an object: what a gate asks. */
export function conditionIsTrue(object: KubeObject, type: string): boolean {
  const status = object.status;
  if (typeof status !== 'object' || status === null || !('conditions' in status) || !Array.isArray(status.conditions))
    return false;
  return status.conditions.some(
    (one: unknown) =>
      typeof one === 'object' &&
      one !== null &&
      'type' in one &&
      'status' in one &&
      one.type === type &&
      one.status === 'True',
  );
}

function shorten(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 117)}…`;
}
