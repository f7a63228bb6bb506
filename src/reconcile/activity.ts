import type { Plugin } from '../api/index.ts';
import { type Activity, activityOf } from '../resolve/when.ts';
import { type Facts, factsOf } from './facts.ts';
import type { Parts } from './parts.ts';

/** Whether a Plugin is for this cluster at all. Its window decides when, not whether. */
export function activityIn(plugin: Plugin, facts: Facts): Activity {
  if (!plugin.spec.enabled) return { state: 'inactive', why: 'disabled' };
  return activityOf(plugin.spec.when, { kubernetes: facts.kubernetes, labels: facts.labels, windowOpen: true });
}

/** False when it is certain that nothing of the Plugin shall be here. */
export function isWanted(parts: Pick<Parts, 'syncs' | 'kubernetes'>, plugin: Plugin): boolean {
  if (!plugin.spec.enabled) return false;
  const answer = factsOf(plugin, parts.syncs, parts.kubernetes());
  return !answer.known || activityIn(plugin, answer.facts).state !== 'inactive';
}
