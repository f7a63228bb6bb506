import { type Plugin, refKey } from '../api/index.ts';
import { type FactsParts, factsOf } from './facts.ts';
import { nestedIn } from './nesting.ts';
import type { Parts } from './parts.ts';
import { DROPPED, isUndecided, LEAVING, MOVING } from './records.ts';
import { keyOf } from './store.ts';

/** Something that it no longer declares is still there, and whether it goes is not decided. */
export function hasDropped(plugin: Plugin): boolean {
  return plugin.status?.inventory?.some(isUndecided) ?? false;
}

/** Of a Plugin and all that is nested in it, those that want to delete something. */
export function waitingToDelete(root: string, plugins: Pick<Parts['plugins'], 'get' | 'values'>): string[] {
  const top = plugins.get(root);
  return [...(top === undefined ? [] : [top]), ...nestedIn(root, plugins.values())]
    .filter((plugin) => isRemoving(plugin) || hasDropped(plugin))
    .map(keyOf);
}

/** Something of it, or all of it, is being removed. */
export function isRemoving({ metadata, status }: Plugin): boolean {
  if (metadata.deletionTimestamp !== undefined || status?.phase === 'Removing') return true;
  return status?.inventory?.some((entry) => entry.applied === LEAVING) ?? false;
}

/** Something will be deleted that was not even asked to go yet, or handed over. One that hangs on its finalizers was. */
export function hasToLetGo(parts: FactsParts & Pick<Parts, 'owned'>, plugin: Plugin): boolean {
  let prunes: boolean | undefined;
  return (plugin.status?.inventory ?? []).some((entry) => {
    if (entry.applied === MOVING) return true;
    if (entry.applied === LEAVING) return parts.owned.get(refKey(entry))?.terminating !== true;
    if (entry.applied !== DROPPED) return false;
    prunes ??= isPruned(parts, plugin);
    return prunes;
  });
}

function isPruned(parts: FactsParts, plugin: Plugin): boolean {
  const answer = factsOf(parts, plugin);
  return !answer.known || answer.facts.pruneEnabled;
}

/** What speaks against deleting anything that a Plugin no longer declares, for people; undefined when nothing does. */
export function whyDroppedStay(parts: FactsParts & Pick<Parts, 'declared'>, plugin: Plugin): string | undefined {
  const answer = factsOf(parts, plugin);
  if (answer.known && !answer.facts.pruneEnabled) return 'spec.prune.enabled of the Sync is false';
  const unknown = parts.declared.whatIsUnknown(plugin);
  return unknown === undefined ? undefined : `waits for ${unknown}`;
}
