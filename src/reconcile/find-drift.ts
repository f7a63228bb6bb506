import {
  type DriftEntry,
  describeRef,
  FIELD_MANAGER,
  type InventoryEntry,
  type Plugin,
  timestamp,
} from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import { driftOf, type Writer } from '../plan/drift.ts';
import type { Parts } from './parts.ts';
import { isDeclared } from './records.ts';

export interface Found {
  /** Keys to be written again now. */
  repair: Set<string>;
  /** For the status: drift that is not repaired, and why. */
  report: DriftEntry[];
  /** When a repair that rests may be tried again. */
  againAt?: number;
}

/** What differs from the record among a Plugin's objects, by what the watches say. No requests. */
export function findDrift(parts: Parts, plugin: string, spec: Plugin, record: Inventory): Found {
  const found: Found = { repair: new Set(), report: [] };
  const mode = spec.spec.drift?.mode ?? 'repair';
  const now = parts.clock.now();
  for (const [key, entry] of record) {
    if (!isDeclared(entry) || !parts.watches.isSynced(entry)) continue;
    const drift = driftOfEntry(parts, plugin, spec, key, entry);
    if (drift === undefined) continue;
    const rests = parts.repairs.restsUntil(key, now);
    if (mode === 'repair' && rests === undefined) found.repair.add(key);
    else if (mode !== 'ignore') {
      found.report.push(
        rests === undefined
          ? drift
          : { ...drift, by: `${drift.by ?? 'somebody'}, who writes it back; repairs rest until ${timestamp(rests)}` },
      );
      if (rests !== undefined) found.againAt = Math.min(rests, found.againAt ?? rests);
    }
  }
  return found;
}

/** What drifted of one object; undefined when nothing did, or only what is ignored. */
export function driftOfEntry(
  parts: Parts,
  plugin: string,
  spec: Plugin,
  key: string,
  entry: InventoryEntry,
): DriftEntry | undefined {
  const live = parts.owned.get(key);
  if (live === undefined || live.plugin !== plugin || (entry.uid !== undefined && live.uid !== entry.uid)) {
    return { object: describeRef(entry), fields: ['the object is gone'] };
  }
  if (live.terminating || !parts.owned.hasDrifted(key) || live.object === undefined) return undefined;
  const object = describeRef(entry);
  const recorded = parts.owned.recorded(key)?.set;
  if (recorded === undefined) return { object, fields: ['changed while nobody watched'] };
  const drift = driftOf({
    declared: live.object,
    recorded,
    managedFields: live.object.metadata.managedFields,
    manager: FIELD_MANAGER,
    ignore: spec.spec.drift?.ignore ?? [],
  });
  if (drift.state === 'none') return undefined;
  if (drift.state === 'incomparable')
    return { object, fields: [`applied as ${drift.held}, recorded as ${drift.recorded}`] };
  return { object, fields: drift.paths, by: describeWriters(drift.by) };
}

function describeWriters(writers: readonly Writer[]): string {
  return writers.map((writer) => (writer.isSure ? writer.manager : `${writer.manager}, probably`)).join(' and ');
}
