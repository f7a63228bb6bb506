import { EspalierError, isError, LABEL, type Plugin, refKey } from '../api/index.ts';
import { readInventory, sameInventory, without } from '../converge/inventory.ts';
import { describeProgress, removeNextWave } from '../converge/prune.ts';
import { clientFor } from './account.ts';
import { dropFinalizer } from './finalizer.ts';
import { syncOver } from './nesting.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import type { PluginFindings } from './plugin-status.ts';
import { rulesForRemoval } from './prune-plugin.ts';
import { isOnItsWayOut, removalGate } from './removal-order.ts';
import { keyOf } from './store.ts';
import { beginUninstall, endUninstall } from './uninstall-release.ts';

export interface Removal {
  why: string;
  /** The Plugin object itself is on its way out; otherwise only what it installed is. */
  final: boolean;
}

/**
 * Takes away what a Plugin installed, one wave a call, dependents first. What other Plugins declare by now, and what
 * deletion rules protect, is released instead: it stays, and nobody is asked to delete it.
 */
export async function removePlugin(
  parts: Parts,
  key: string,
  plugin: Plugin,
  removal: Removal,
): Promise<PluginVerdict | 'gone'> {
  const record = readInventory(plugin.status?.inventory);
  if (record.size === 0) {
    const uninstall = await beginUninstall(parts, plugin);
    if (uninstall.state === 'wait') return uninstall.verdict;
    return (await endUninstall(parts, uninstall)) ?? (await removed(parts, plugin, removal, 0));
  }
  if (plugin.spec.deletion?.policy === 'orphan') return await removed(parts, plugin, removal, record.size);

  const blockers = blockersOf(parts, key);
  if (blockers !== undefined) return blockers;
  const unknown = parts.declared.whatIsUnknown(plugin);
  if (unknown !== undefined) return removing(`${removal.why}; waits for ${unknown}, before anything is deleted`, {});
  // Somebody deleted the object by hand. Its Sync writes it again, and it finds everything as it was.
  const isSystem = plugin.metadata.labels?.[LABEL.class] === 'system';
  if (isSystem && removal.final && parts.declared.syncsWith(key).length > 0)
    return await removed(parts, plugin, removal, record.size);

  const uninstall = await beginUninstall(parts, plugin);
  if (uninstall.state === 'wait') return uninstall.verdict;
  const { doomed, released, kept, awaited } = await rulesForRemoval(parts, key, plugin, record);
  const sync = syncOver(plugin, (one) => parts.plugins.get(one));
  if (sync !== undefined) parts.kept.add(sync, kept);
  const client = clientFor(parts, plugin);
  const progress = await removeNextWave(client, key, doomed, removalGate(parts, key, plugin, client));
  const rest = without(record, [...released, ...progress.gone]);
  for (const gone of [...released, ...progress.gone]) parts.owned.forget(gone, key);
  const findings: PluginFindings = sameInventory(rest, record) ? {} : { inventory: [...rest.values()] };
  if (rest.size === 0) {
    const last = await endUninstall(parts, uninstall);
    // What is not on record any more would not be found again: the record stays until the end.
    return last ?? (await removed(parts, plugin, removal, kept.length, findings));
  }
  const failure = progress.failed[0];
  if (failure !== undefined) {
    const cause = failure.error;
    const error = cause instanceof Error ? cause : new EspalierError('ApplyFailed', String(cause));
    return {
      outcome: {
        phase: 'Failed',
        reason: isError(error) ? error.code : 'ApplyFailed',
        message: `could not remove: ${error.message}`,
        userMustAct: false,
        applied: false,
      },
      findings,
      error,
    };
  }
  const left = [...describeProgress(progress), ...awaited];
  const more = rest.size - left.length;
  // Gone objects wake us through their watch; the timer covers kinds whose watch was just lost with their definition.
  return removing(
    `${removal.why}; removing ${left.slice(0, 5).join(', ')}${more > 0 ? ` (then ${more} more)` : ''}`,
    findings,
    5_000,
  );
}

/** Other Plugins that must go first, or that still need this one. */
function blockersOf(parts: Parts, key: string): PluginVerdict | undefined {
  const first: string[] = [];
  const needed: string[] = [];
  for (const dependent of parts.dependents.of(key)) {
    const other = parts.plugins.get(dependent);
    if (other === undefined || (other.status?.inventory ?? []).length === 0) continue;
    // In a circle nobody could ever go first.
    if (parts.dependents.reaches(key, dependent)) continue;
    if (isOnItsWayOut(parts, other)) first.push(dependent);
    else needed.push(dependent);
  }
  if (needed.length > 0) {
    const message = `still needed by ${needed.join(', ')}; remove the dependency there, or remove them too`;
    return { outcome: { phase: 'Held', reason: 'NeededByOthers', message }, findings: {} };
  }
  return first.length === 0 ? undefined : removing(`waits until ${first.join(', ')} is removed`, {});
}

async function removed(
  parts: Parts,
  plugin: Plugin,
  removal: Removal,
  released: number,
  findings: PluginFindings = {},
): Promise<PluginVerdict | 'gone'> {
  if (!removal.final) {
    parts.watches.use(keyOf(plugin), []);
    return {
      outcome: { phase: 'Disabled', message: `not installed: ${removal.why}` },
      findings: { ...findings, inventory: [], revision: {}, drift: [], release: 'none' },
    };
  }
  await dropFinalizer(parts, plugin);
  for (const entry of plugin.status?.inventory ?? []) parts.owned.forget(refKey(entry), keyOf(plugin));
  if (released > 0) parts.log.info({ plugin: keyOf(plugin), released }, 'objects were left in place');
  return 'gone';
}

function removing(message: string, findings: PluginFindings, againInMs?: number): PluginVerdict {
  return { outcome: { phase: 'Removing', message }, findings, ...(againInMs === undefined ? {} : { againInMs }) };
}
