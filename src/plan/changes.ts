import { diffArrays } from 'diff';
import type { Json, JsonObject, KubeObject } from '../api/index.ts';
import { canonicalJson } from '../api/index.ts';
import { type FieldPath, printPath } from './field-path.ts';
import { fieldOf, isEqual, isObject } from './json.ts';
import { keyOfItem, keysOf } from './list-keys.ts';

/** One field, before and after. Values are masked where they are secret. */
export type FieldChange =
  | { path: string; op: 'add'; new: Json }
  | { path: string; op: 'remove'; old: Json }
  | { path: string; op: 'replace'; old: Json; new: Json };

/** `whole`: what is missing on the new side is removed. `declared`: the new side says only what it cares for. */
type Mode = 'whole' | 'declared';

/** More edits than this, and a list is shown as replaced as a whole. */
const MAX_EDITS = 500;

/** Metadata that the API server keeps for itself, which no declaration is about. */
const SERVER_METADATA = [
  'managedFields',
  'resourceVersion',
  'generation',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
];

/** All changes between two states of an object as the API server holds them, such as live and dry-run. */
export function changesBetween(before: KubeObject, after: KubeObject): FieldChange[] {
  const changes: FieldChange[] = [];
  compareObjects(declarable(before), declarable(after), [], 'whole', changes);
  return changes;
}

/** What a declaration says otherwise than the live object. Fields that it leaves out (defaults, others' fields) don't count. */
export function changesFromDeclared(live: KubeObject, declared: KubeObject): FieldChange[] {
  const changes: FieldChange[] = [];
  compareObjects(declarable(live), declarable(declared), [], 'declared', changes);
  return changes;
}

/** The part of an object that a declaration can be about: without status and without what the server keeps for itself. */
export function declarable(object: KubeObject): JsonObject {
  const { status: _, metadata, ...rest } = object;
  const kept = Object.entries(metadata).filter(([name]) => !SERVER_METADATA.includes(name));
  return { ...rest, metadata: Object.fromEntries(kept) } as JsonObject;
}

function compare(
  old: Json | undefined,
  now: Json | undefined,
  path: FieldPath,
  mode: Mode,
  changes: FieldChange[],
): void {
  if (isEqual(old, now)) return;
  if (mode === 'declared' && isNothing(now) && isNothing(old)) return;
  if (isObject(old) && isObject(now)) compareObjects(old, now, path, mode, changes);
  else if (Array.isArray(old) && Array.isArray(now)) compareLists(old, now, path, mode, changes);
  else if (old === undefined && now !== undefined) changes.push({ path: printPath(path), op: 'add', new: now });
  else if (now === undefined && old !== undefined) changes.push({ path: printPath(path), op: 'remove', old });
  else if (old !== undefined && now !== undefined)
    changes.push({ path: printPath(path), op: 'replace', old, new: now });
}

function compareObjects(old: JsonObject, now: JsonObject, path: FieldPath, mode: Mode, changes: FieldChange[]): void {
  const names = mode === 'declared' ? Object.keys(now) : new Set([...Object.keys(old), ...Object.keys(now)]);
  for (const name of names) compare(fieldOf(old, name), fieldOf(now, name), [...path, { field: name }], mode, changes);
}

function compareLists(old: Json[], now: Json[], path: FieldPath, mode: Mode, changes: FieldChange[]): void {
  if (![...old, ...now].every(isObject)) {
    changes.push({ path: printPath(path), op: 'replace', old, new: now });
    return;
  }
  const last = path.at(-1);
  const keys = keysOf(last !== undefined && 'field' in last ? last.field : '', old, now);
  if (keys === undefined) compareByPlace(old, now, path, mode, changes);
  else compareByKey(old, now, keys, path, mode, changes);
}

function compareByKey(
  old: Json[],
  now: Json[],
  keys: readonly string[],
  path: FieldPath,
  mode: Mode,
  changes: FieldChange[],
): void {
  const [before, after] = [old, now].map(
    (list) => new Map(list.map((item) => [canonicalJson(keyOfItem(item, keys)), item])),
  );
  if (before === undefined || after === undefined) return;
  const itemPath = (item: Json): FieldPath => [...path, { key: keyOfItem(item, keys) ?? {} }];
  for (const [key, item] of after) compare(before.get(key), item, itemPath(item), mode, changes);
  if (mode === 'declared') return;
  for (const [key, item] of before) if (!after.has(key)) compare(item, undefined, itemPath(item), mode, changes);
  const common = [before, after].map((own, side) =>
    [...own.keys()].filter((key) => (side === 0 ? after : before).has(key)),
  );
  if (!isEqual(common[0], common[1])) {
    const order = (list: Json[]) => list.map((item) => printPath([{ key: keyOfItem(item, keys) ?? {} }]));
    changes.push({ path: `${printPath(path)} (order)`, op: 'replace', old: order(old), new: order(now) });
  }
}

/** Without keys, equal items are lined up first, so that one insertion is one change. */
function compareByPlace(old: Json[], now: Json[], path: FieldPath, mode: Mode, changes: FieldChange[]): void {
  if (mode === 'declared' && old.length === now.length) {
    // The API server fills in defaults, so items that were declared alike need not be equal: compare pair by pair.
    for (const [index, item] of now.entries()) compare(old[index], item, [...path, { index }], mode, changes);
    return;
  }
  const parts = diffArrays(old, now, { comparator: isEqual, maxEditLength: MAX_EDITS });
  if (parts === undefined) {
    changes.push({ path: printPath(path), op: 'replace', old, new: now });
    return;
  }
  let [oldIndex, newIndex] = [0, 0];
  let removed: Json[] = [];
  const flush = (added: readonly Json[]): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      const index = i < added.length ? newIndex + i : oldIndex - removed.length + i;
      compare(removed[i], added[i], [...path, { index }], mode, changes);
    }
    removed = [];
  };
  for (const part of parts) {
    if (part.removed) {
      removed = part.value;
      oldIndex += part.count;
      continue;
    }
    flush(part.added ? part.value : []);
    newIndex += part.count;
    if (!part.added) oldIndex += part.count;
  }
  flush([]);
}

/** What the API server may drop or leave away: an empty map, an empty list and null say no more than nothing. */
function isNothing(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
