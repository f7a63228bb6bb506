import { type Attempt, describeRef, type InventoryEntry, type Plugin, refKey } from '../api/index.ts';
import { type Inventory, sameInventory } from '../converge/inventory.ts';
import type { OwnedObject } from '../converge/owned.ts';
import { isRunOver } from '../plan/once.ts';
import { hasDropped, whyDroppedStay } from './dropped.ts';
import { isExpansion } from './expansion-rivals.ts';
import { type Found, findDrift, findIn } from './find-drift.ts';
import { pluginKeyIn } from './nesting.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import type { PluginFindings, PluginOutcome } from './plugin-status.ts';
import { comeBackFor, removeLeaving } from './prune-plugin.ts';
import { DROPPED, isDeclared, KEPT, MOVING } from './records.ts';
import { isRolledBack, renderKey } from './release-state.ts';
import { reached } from './sync-plugins.ts';
import { timeLeft } from './time-left.ts';

/**
 * A Plugin whose key is already applied: says how it is, from memory alone. Undefined when something must be written
 * again, because an object is gone or drifted and repairs are wanted, or rendered to tell what drifted.
 */
export async function settlePlugin(
  parts: Parts,
  key: string,
  plugin: Plugin,
  record: Inventory,
  inputsKey: string,
): Promise<PluginVerdict | undefined> {
  const found = findDrift(parts, key, plugin, record, findIn(parts.rendered.peek(renderKey(plugin, inputsKey))));
  if (found.repair.size > 0 || found.unsure) return undefined;
  if (hasDropped(plugin) && whyDroppedStay(parts, plugin) === undefined) return undefined;
  const removal = await removeLeaving(parts, key, plugin, record);
  const findings: PluginFindings = { drift: [...found.report.values()] };
  if (!sameInventory(removal.record, record)) findings.inventory = [...removal.record.values()];
  // A try at something else was taken back before it came through.
  if (plugin.status?.attempted?.key !== inputsKey) findings.attempted = attemptOf(plugin, inputsKey);
  const verdict = withHealth(parts, key, plugin, removal.record, findings, removal.still, inputsKey, found);
  return comeBackFor(verdict, removal);
}

/** Folds the health of everything that a Plugin owns into its outcome. */
export function withHealth(
  parts: Parts,
  key: string,
  plugin: Plugin,
  record: Inventory,
  findings: PluginFindings,
  stillLeaving: readonly string[],
  inputsKey: string,
  found?: Found,
): PluginVerdict {
  const declared = [...record.values()].filter(isDeclared);
  const again = found?.againAt === undefined ? undefined : Math.max(0, found.againAt - parts.clock.now());
  const unseen = declared.find((entry) => !parts.watches.isSynced(entry));
  if (unseen !== undefined && plugin.status?.revision?.key === inputsKey)
    return { outcome: asBefore(plugin), findings: {} };
  const sick = declared.map((entry) => problemOf(parts, key, plugin, entry)).filter((problem) => problem !== undefined);
  const failed = sick.find((problem) => problem.failed);
  const summary = describe(failed ?? sick[0], sick.length);
  if (failed !== undefined)
    return verdict(
      { phase: 'Failed', reason: 'Unhealthy', message: summary, userMustAct: false, applied: true },
      findings,
      again,
    );
  if (sick.length === 0 && isRolledBack(plugin, inputsKey)) {
    const { revision, why } = plugin.status?.release?.rolledBack ?? {};
    const message = `rolled back to revision ${revision}, because: ${why}`;
    return verdict(
      { phase: 'Failed', reason: 'RolledBack', message, userMustAct: true, applied: true },
      findings,
      again,
    );
  }
  if (sick.length === 0)
    return verdict({ phase: 'Ready', message: readyMessage(parts, plugin, record, stillLeaving) }, findings, again);
  if (sick.every(({ nested }) => nested)) return verdict({ phase: 'Progressing', message: summary }, findings, again);
  const left = timeLeft(plugin, inputsKey, parts.clock.now());
  if (left <= 0) {
    const message = `not healthy within ${plugin.spec.timeout}: ${summary}`;
    return verdict(
      { phase: 'Failed', reason: 'HealthTimedOut', message, userMustAct: false, applied: true },
      findings,
      again,
    );
  }
  return verdict({ phase: 'Progressing', message: summary }, findings, Math.min(left, again ?? left));
}

interface Problem {
  entry: InventoryEntry;
  message: string;
  failed: boolean;
  nested?: true;
}

function problemOf(parts: Parts, key: string, { spec }: Plugin, entry: InventoryEntry): Problem | undefined {
  if (isRunOver(entry)) return undefined;
  const live: OwnedObject | undefined = parts.owned.get(refKey(entry));
  if (live === undefined || live.plugin !== key) {
    const { mode } = spec.drift;
    if (mode === 'repair') return { entry, message: 'is gone', failed: false };
    return { entry, message: `is gone, and stays so with spec.drift.mode ${mode}`, failed: true };
  }
  if (live.terminating) return { entry, message: 'is being deleted', failed: false };
  const nested = pluginKeyIn(refKey(entry));
  if (nested !== undefined) return problemOfNested(parts, entry, nested);
  const { state, message } = live.health;
  if (state === 'healthy') return undefined;
  return { entry, message: message === '' ? state : message, failed: state === 'failed' };
}

/** What counts is what it declares now. It has a time-out of its own. */
function problemOfNested(parts: Parts, entry: InventoryEntry, key: string): Problem | undefined {
  const nested = parts.plugins.get(key);
  if (nested !== undefined && reached(parts, nested)) return undefined;
  const { phase, message = '', observedGeneration } = nested?.status ?? {};
  const isCurrent = observedGeneration === nested?.metadata.generation;
  const isTold = isCurrent && (phase === 'Failed' || phase === 'Held');
  return { entry, message: isTold ? message : 'not ready yet', failed: isCurrent && phase === 'Failed', nested: true };
}

function describe(problem: Problem | undefined, count: number): string {
  if (problem === undefined) return '';
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return `${describeRef(problem.entry)}: ${problem.message}${more}`;
}

function readyMessage(parts: Parts, plugin: Plugin, record: Inventory, stillLeaving: readonly string[]): string {
  const entries = [...record.values()];
  const marked = (mark: string) => entries.filter((entry) => entry.applied === mark).map((entry) => describeRef(entry));
  const count = entries.filter(isDeclared).length;
  const [kept, dropped, moving] = [marked(KEPT), marked(DROPPED), marked(MOVING)];
  const newer = plugin.status?.notDowngraded ?? [];
  const said = [
    count === 0
      ? (whyNothing(parts, plugin) ?? '0 objects healthy')
      : `${count} ${count === 1 ? 'object' : 'objects'} healthy`,
  ];
  if (newer.length > 0) said.push(`newer in the cluster, and not downgraded: ${newer.join(', ')}`);
  if (kept.length > 0) said.push(`kept although no longer declared: ${kept.join(', ')}`);
  if (dropped.length > 0) {
    const why = whyDroppedStay(parts, plugin);
    said.push(`no longer declared, but not removed${why === undefined ? '' : ` (${why})`}: ${dropped.join(', ')}`);
  }
  if (moving.length > 0) said.push(`declared elsewhere, and not taken over yet: ${moving.join(', ')}`);
  if (stillLeaving.length > 0) said.push(`still removing ${stillLeaving.join(', ')}`);
  return said.join('; ');
}

/** Of a package that is not for this cluster; after a start what was said before. */
function whyNothing({ rendered }: Parts, plugin: Plugin): string | undefined {
  if (!isExpansion(plugin)) return undefined;
  const { revision, phase, message } = plugin.status ?? {};
  const key = revision?.key;
  const found = key === undefined ? undefined : rendered.peek(renderKey(plugin, key));
  return found === undefined && phase === 'Ready' ? message : found?.whyEmpty;
}

export function attemptOf({ metadata }: Plugin, key: string): Attempt {
  return { key, ...(metadata.generation === undefined ? {} : { generation: metadata.generation }) };
}

/** Not everything has been seen since the start: what was said before still stands. */
function asBefore(plugin: Plugin): PluginOutcome | undefined {
  return plugin.status?.phase === undefined ? { phase: 'Progressing', message: 'looking at the cluster' } : undefined;
}

function verdict(outcome: PluginOutcome, findings: PluginFindings, againInMs: number | undefined): PluginVerdict {
  return againInMs === undefined ? { outcome, findings } : { outcome, findings, againInMs };
}
