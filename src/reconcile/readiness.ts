import { CONDITION, type Plugin } from '../api/index.ts';

/**
 * One text for every step on the way. A step that showed (3 of 4 pods, waiting in turn) would be a status to write for
 * every Plugin down the line, at each step of each.
 */
const NOT_YET = 'not ready yet';

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
    return { ready: false, why: NOT_YET };
  if (condition.status !== 'True') return { ready: false, why: whyNot(status?.phase, condition.message) };
  if (condition.reason === 'Disabled') return { ready: false, why: shorten(condition.message) };
  if (currentKey !== undefined && status?.revision?.key !== currentKey) return { ready: false, why: NOT_YET };
  return { ready: true };
}

/** Quotes only what somebody must see to. */
function whyNot(phase: NonNullable<Plugin['status']>['phase'], message: string): string {
  return phase === 'Waiting' || phase === 'Progressing' || phase === 'Pending' ? NOT_YET : shorten(message);
}

function shorten(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 117)}…`;
}
