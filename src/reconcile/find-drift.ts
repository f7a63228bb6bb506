import {
  type DriftEntry,
  describeRef,
  type InventoryEntry,
  type KubeObject,
  type Plugin,
  refKey,
  refOf,
  timestamp,
} from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import { driftByValue, driftOf, stillDiffering, type Writer } from '../plan/drift.ts';
import { managerFor, managerOf } from '../plan/manager.ts';
import { isRunOver } from '../plan/once.ts';
import type { Parts } from './parts.ts';
import { isDeclared } from './records.ts';
import type { Rendered } from './rendered.ts';

/** In place of a field. */
export const GONE = 'the object is gone';

export interface Found {
  /** Keys to be written again now. */
  repair: Set<string>;
  /** For the status, by object key: drift that is not repaired, and why. */
  report: Map<string, DriftEntry>;
  /** When a repair that rests may be tried again. */
  againAt?: number;
  /** Drift is to be reported, and only what is declared tells which: ask again with `declared`. */
  unsure: boolean;
}

/** Finds an object that a Plugin declares by its reference key; undefined where nothing is rendered. */
export type FindDeclared = ((key: string) => KubeObject | undefined) | undefined;

export function findIn(rendered: Rendered | undefined): FindDeclared {
  return rendered === undefined ? undefined : (key) => rendered.objects.find((object) => refKey(refOf(object)) === key);
}

/** What differs from the record among a Plugin's objects, by what the watches say. No requests. */
export function findDrift(
  parts: Parts,
  plugin: string,
  spec: Plugin,
  record: Inventory,
  declared: FindDeclared,
): Found {
  const found: Found = { repair: new Set(), report: new Map(), unsure: false };
  const { mode } = spec.spec.drift;
  if (mode === 'ignore') return found;
  const now = parts.clock.now();
  for (const [key, entry] of record) {
    if (!isDeclared(entry) || isRunOver(entry) || !parts.watches.isSynced(entry)) continue;
    const drift = driftOfEntry(parts, plugin, spec, key, entry, declared?.(key));
    if (drift === undefined) continue;
    const rests = parts.repairs.restsUntil(key, now);
    if (mode === 'repair' && rests === undefined) found.repair.add(key);
    else if (rests !== undefined) {
      const by = `${drift.by ?? 'somebody'}, who writes it back; repairs rest until ${timestamp(rests)}`;
      found.report.set(key, { ...drift, by });
      found.againAt = Math.min(rests, found.againAt ?? rests);
    } else if (drift.fields.length > 0) {
      found.report.set(key, drift);
      found.unsure ||= declared === undefined && parts.owned.get(key) !== undefined;
    }
  }
  return found;
}

/** The same for a Plugin whose change may not be made yet: nothing can be repaired to what is not declared any more. */
export function driftWhileWaiting(parts: Parts, plugin: string, spec: Plugin, record: Inventory): DriftEntry[] {
  const { repair, report } = findDrift(parts, plugin, spec, record, undefined);
  const drift = new Map(report);
  for (const key of repair) {
    const entry = record.get(key);
    const found = entry === undefined ? undefined : driftOfEntry(parts, plugin, spec, key, entry, undefined);
    if (found !== undefined) drift.set(key, found);
  }
  return [...drift.values()];
}

/** What drifted of one object; undefined when nothing did, or only what is ignored. */
export function driftOfEntry(
  parts: Parts,
  plugin: string,
  spec: Plugin,
  key: string,
  entry: InventoryEntry,
  declared: KubeObject | undefined,
): DriftEntry | undefined {
  const live = parts.owned.get(key);
  if (live === undefined || live.plugin !== plugin || (entry.uid !== undefined && live.uid !== entry.uid)) {
    return { object: describeRef(entry), fields: [GONE] };
  }
  if (live.terminating || !parts.owned.hasDrifted(key) || live.object === undefined) return undefined;
  const object = describeRef(entry);
  const ignore = spec.spec.drift.ignore ?? [];
  const recorded = parts.owned.recorded(key)?.set;
  if (recorded === undefined) {
    if (declared === undefined) return { object, fields: ['changed while nobody watched'] };
    const { paths, by } = driftByValue({ declared, live: live.object, manager: managerFor(declared), ignore });
    return { object, fields: paths, ...(by.length === 0 ? {} : { by: describeWriters(by) }) };
  }
  const drift = driftOf({
    declared: live.object,
    recorded,
    managedFields: live.object.metadata.managedFields,
    manager: managerOf(live.object),
    ignore,
  });
  if (drift.state === 'none') return undefined;
  if (drift.state === 'incomparable')
    return { object, fields: [`applied as ${drift.held}, recorded as ${drift.recorded}`] };
  const fields = declared === undefined ? drift.paths : stillDiffering(drift.paths, declared, live.object);
  const by = drift.by.filter(({ paths }) => paths.some((path) => fields.includes(path)));
  return { object, fields, ...(by.length === 0 ? {} : { by: describeWriters(by) }) };
}

export function describeWriters(writers: readonly Writer[]): string {
  return writers.map((writer) => (writer.isSure ? writer.manager : `${writer.manager}, probably`)).join(' and ');
}
