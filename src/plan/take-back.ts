import type { JsonObject, ManagedFieldsEntry } from '../api/index.ts';
import { serverPath } from './field-path.ts';
import { appliedFields, hashFields, pathsOf } from './fields.ts';
import type { FieldConflict } from './object-plan.ts';

export interface TakeBackInput {
  conflicts: readonly FieldConflict[];
  /** The object is declared just as it was at our last apply, so every field in it was ours then. */
  sameDeclaration: boolean;
  /** Hash of the fields in our name after our last apply; undefined when we never wrote the object. */
  recordedHash: string | undefined;
  /** Those fields themselves, where this process has seen them. */
  recorded?: JsonObject | undefined;
  /** Of the live object, now. */
  managedFields: readonly ManagedFieldsEntry[] | undefined;
  manager: string;
}

/**
 * Whether all fields that the API server refuses us were ours at our last apply, and somebody took them since: such fields
 * may be taken back whenever the object is written. Fields that were never ours belong to who set them.
 */
export function wereOurs(input: TakeBackInput): boolean {
  const { conflicts, recorded, managedFields } = input;
  if (conflicts.length === 0 || input.recordedHash === undefined) return false;
  if (input.sameDeclaration) return true;
  const held = appliedFields(managedFields, input.manager)?.fields ?? {};
  // Nothing was taken from us since.
  if (hashFields(held) === input.recordedHash) return false;
  if (recorded !== undefined) {
    const ours = new Set(pathsOf(recorded).map(serverPath));
    return conflicts.every(({ field }) => ours.has(field));
  }
  // After a restart only the hash is left. Something was taken: by those who wrote after us, as far as anybody can tell.
  const since = lastWrite(managedFields, (entry) => entry.manager === input.manager && entry.operation === 'Apply');
  return conflicts.every(({ manager }) => lastWrite(managedFields, (entry) => entry.manager === manager) >= since);
}

function lastWrite(
  managedFields: readonly ManagedFieldsEntry[] | undefined,
  isMeant: (entry: ManagedFieldsEntry) => boolean,
): string {
  const times = (managedFields ?? []).filter(isMeant).map((entry) => entry.time ?? '');
  return times.reduce((latest, time) => (time > latest ? time : latest), '');
}
