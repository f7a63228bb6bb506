import type { Json, JsonObject, KubeObject, ManagedFieldsEntry } from '../api/index.ts';
import { changesFromDeclared } from './changes.ts';
import { type FieldPath, type PathElement, parseElement, printPath, valueAt } from './field-path.ts';
import { appliedFields, holdsPath, pathsOf } from './fields.ts';
import { autoscaledPaths, type IgnoreRule, ignoredPointers, isIgnored, withoutIgnored } from './ignore.ts';
import { asJson, fieldOf, isObject } from './json.ts';
import { withFoldedData } from './secret-forms.ts';

export interface DriftInput {
  /** What we last applied: tells which rules mean the object, and what the fields were. */
  declared: KubeObject;
  /** The fields in our name after our last apply, and the API version they are written in. */
  recorded: { apiVersion: string; fields: JsonObject };
  /** Of the live object, now. */
  managedFields: readonly ManagedFieldsEntry[] | undefined;
  manager: string;
  ignore: readonly IgnoreRule[];
}

/** Who holds drifted fields now. For fields that are gone nobody does: then it is the last other writer, and not sure. */
export interface Writer {
  manager: string;
  operation?: string;
  subresource?: string;
  time?: string;
  paths: string[];
  isSure: boolean;
}

export type Drift =
  | { state: 'none' }
  | { state: 'drifted'; paths: string[]; fields: FieldPath[]; by: Writer[] }
  /** Our fields are recorded in another API version than they are held in: only a full comparison can tell. */
  | { state: 'incomparable'; recorded: string; held: string };

/**
 * Fields that we applied and that are no longer in our name: the API server takes a field from a manager when
 * another one changes or removes it. Needs no values and no request.
 */
export function driftOf(input: DriftInput): Drift {
  const held = appliedFields(input.managedFields, input.manager);
  if (held !== undefined && held.apiVersion !== input.recorded.apiVersion) {
    return { state: 'incomparable', recorded: input.recorded.apiVersion, held: held.apiVersion };
  }
  const pointers = ignoredPointers(input.declared, input.ignore);
  const scaled = new Set(autoscaledPaths(input.managedFields).map(printPath));
  const fields = lostPaths(input.recorded.fields, held?.fields).filter(
    (path) => !isIgnored(path, pointers, input.declared) && !scaled.has(printPath(path)),
  );
  if (fields.length === 0) return { state: 'none' };
  const others = (input.managedFields ?? []).filter(
    (entry) => entry.manager !== input.manager || entry.operation !== 'Apply',
  );
  return { state: 'drifted', paths: fields.map(printPath), fields, by: writersOf(fields, others) };
}

export interface LostInput {
  declared: KubeObject;
  live: KubeObject;
  manager: string;
  ignore: readonly IgnoreRule[];
}

/**
 * The same by comparing values, for when only a hash is left of what our last apply left in our name: what is declared,
 * differs from the live object, and is not in our name any more.
 */
export function driftByValue({ declared, live, manager, ignore }: LostInput): { paths: string[]; by: Writer[] } {
  const { managedFields } = live.metadata;
  const held = new Set(pathsOf(appliedFields(managedFields, manager)?.fields ?? {}).map(printPath));
  const { object } = withoutIgnored(declared, live, ignore, manager);
  const paths = changedPaths(object, live).filter((path) => !held.has(path));
  const others = (managedFields ?? []).filter((entry) => entry.manager !== manager || entry.operation !== 'Apply');
  const holds = (entry: ManagedFieldsEntry, path: string) =>
    pathsOf(entry.fieldsV1 ?? {}).some((one) => printPath(one) === path);
  return { paths, by: groupWriters(paths, others, holds) };
}

/** Of drifted paths, those where the live value is not what is declared: somebody may have put it back by hand. */
export function stillDiffering(paths: readonly string[], declared: KubeObject, live: KubeObject): string[] {
  const changed = changedPaths(declared, live);
  return paths.filter((path) => changed.some((one) => isWithin(one, path) || isWithin(path, one)));
}

function changedPaths(declared: KubeObject, live: KubeObject): string[] {
  return changesFromDeclared(live, withFoldedData(declared)).map(({ path }) => path);
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}

/** Recorded paths that are missing now. What is lost whole (a container, a map entry) counts as one path. */
export function lostPaths(recorded: JsonObject, held: JsonObject | undefined): FieldPath[] {
  const paths: FieldPath[] = [];
  collectLost(recorded, held, [], paths);
  return paths;
}

function collectLost(recorded: JsonObject, held: Json | undefined, at: readonly PathElement[], paths: FieldPath[]) {
  for (const name of Object.keys(recorded)) {
    const [node, still] = [fieldOf(recorded, name), fieldOf(held, name)];
    if (name === '.' || !isObject(node)) continue;
    const path = [...at, parseElement(name)];
    const isMember = '.' in node || Object.keys(node).length === 0;
    if (still === undefined && isMember) paths.push(path);
    else collectLost(node, still, path, paths);
  }
}

/** Values of drifted fields, to show what was changed to what. Mask Secrets before. */
export function driftValues(declared: KubeObject, live: KubeObject, fields: readonly FieldPath[]) {
  return fields.map((path) => ({
    path: printPath(path),
    declared: valueAt(asJson(declared), path),
    live: valueAt(asJson(live), path),
  }));
}

function writersOf(fields: readonly FieldPath[], others: readonly ManagedFieldsEntry[]): Writer[] {
  const byPath = new Map(fields.map((path) => [printPath(path), path]));
  return groupWriters([...byPath.keys()], others, (entry, path) =>
    holdsPath(entry.fieldsV1 ?? {}, byPath.get(path) ?? []),
  );
}

function groupWriters(
  paths: readonly string[],
  others: readonly ManagedFieldsEntry[],
  holds: (entry: ManagedFieldsEntry, path: string) => boolean,
): Writer[] {
  const writers = new Map<string, Writer>();
  const last = others
    .filter((entry) => entry.subresource !== 'status')
    .reduce<ManagedFieldsEntry | undefined>(
      (a, b) => (a === undefined || (b.time ?? '') >= (a.time ?? '') ? b : a),
      undefined,
    );
  for (const path of paths) {
    const holders = others.filter((entry) => holds(entry, path));
    const isSure = holders.length > 0;
    for (const entry of isSure ? holders : [last]) {
      const key = JSON.stringify([entry?.manager, entry?.operation, entry?.subresource, isSure]);
      const writer = writers.get(key) ?? describeWriter(entry, isSure);
      writer.paths.push(path);
      writers.set(key, writer);
    }
  }
  return [...writers.values()];
}

function describeWriter(entry: ManagedFieldsEntry | undefined, isSure: boolean): Writer {
  const writer: Writer = { manager: entry?.manager ?? 'unknown', paths: [], isSure };
  if (entry?.operation !== undefined) writer.operation = entry.operation;
  if (entry?.subresource !== undefined && entry.subresource !== '') writer.subresource = entry.subresource;
  if (entry?.time !== undefined) writer.time = entry.time;
  return writer;
}
