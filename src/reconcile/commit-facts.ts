import { CONDITION, findCondition, type Plugin, type Sync } from '../api/index.ts';
import type { Drifted } from '../report/drift.ts';
import type { HeadFacts, PluginState } from '../report/verdict.ts';
import type { Compiled } from './compile.ts';
import { differsFromShown, type MergedFrom } from './pulls/merged.ts';
import { keyOf } from './store.ts';
import type { SyncParts } from './sync-parts.ts';
import { pluginsOf, reached } from './sync-plugins.ts';
import { describeFault } from './sync-status.ts';
import { toldDrift } from './told-drift.ts';

/** How each Plugin of a Sync stands to what is declared now. */
function pluginStates(parts: SyncParts, key: string, sync: Sync): PluginState[] {
  return [...pluginsOf(parts, key)]
    .map((plugin) => stateOf(plugin, sync, reached(parts, plugin)))
    .toSorted((a, b) => a.key.localeCompare(b.key));
}

function stateOf(plugin: Plugin, sync: Sync, isReady: boolean): PluginState {
  const { metadata, status } = plugin;
  const key = keyOf(plugin);
  const of = { key, name: metadata.namespace === sync.metadata.namespace ? metadata.name : key };
  if (isReady) return { ...of, state: 'ready', why: status?.message ?? '' };
  const why = status?.message ?? 'not looked at yet';
  const isCurrent = status?.observedGeneration === metadata.generation;
  if (metadata.deletionTimestamp !== undefined) return { ...of, state: 'waiting', why: 'is being removed' };
  if (isCurrent && status?.phase === 'Failed') return { ...of, state: 'failed', why };
  if (isCurrent && status?.phase === 'Held') {
    const needsCommit = findCondition(status.conditions, CONDITION.Held)?.reason === 'RendersNothing';
    return { ...of, state: 'held', why, needsCommit };
  }
  return { ...of, state: 'waiting', why: status?.phase === 'Suspended' ? 'is suspended' : why };
}

/** What there is to say about the commit at the head, from memory alone. Undefined before it was looked at. */
export function headFacts(parts: SyncParts, key: string, sync: Sync): HeadFacts | undefined {
  const { compiled, trouble, written: isWritten, generation, removals, mergedFrom } = parts.memories.of(key);
  const plugins = pluginStates(parts, key, sync);
  if (trouble !== undefined) return { trouble: trouble.message, written: false, faults: [], plugins };
  if (compiled === undefined) return undefined;
  const { status } = sync;
  // Until the status is about this commit, it says what was there before.
  const written = isWritten && status?.commit === compiled.commit && generation === sync.metadata.generation;
  const faults = written ? (status.faults ?? []) : [...compiled.faults, ...compiled.misfits];
  return {
    written,
    faults: faults.map(describeFault),
    ...(written && status.held !== undefined ? { held: status.held.reason } : {}),
    ...(removals === undefined ? {} : { busy: removals }),
    plugins,
    ...differsNow(parts, mergedFrom, compiled),
  };
}

function differsNow(
  parts: SyncParts,
  merged: MergedFrom | undefined,
  { commit, plugins }: Compiled,
): Pick<HeadFacts, 'differs'> {
  const differs = merged?.commit === commit ? differsFromShown(parts, merged, plugins) : undefined;
  return differs === undefined ? {} : { differs };
}

/** What differs from what is declared, as the Plugins' status has it. */
export function driftedIn(parts: SyncParts, key: string): Drifted[] {
  return [...pluginsOf(parts, key)].flatMap((plugin) => toldDrift(plugin, plugin.metadata.name));
}
