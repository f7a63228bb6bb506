import type { Plugin } from '../api/index.ts';
import { type Activity, activityOf } from '../resolve/when.ts';
import { type Facts, type FactsParts, factsOf } from './facts.ts';

/** Whether a Plugin is for this cluster at all. Its window decides when, not whether. */
export function activityIn(plugin: Plugin, facts: Facts): Activity {
  if (!plugin.spec.enabled) return { state: 'inactive', why: 'disabled' };
  return activityOf(plugin.spec.when, { kubernetes: facts.kubernetes, labels: facts.labels, windowOpen: true });
}

/** False when it is certain that nothing of the Plugin shall be here. */
export function isWanted(parts: FactsParts, plugin: Plugin): boolean {
  if (!plugin.spec.enabled) return false;
  // What is for every cluster is wanted whatever is known of this one.
  if (plugin.spec.when === undefined) return true;
  const answer = factsOf(parts, plugin);
  return !answer.known || activityIn(plugin, answer.facts).state !== 'inactive';
}
