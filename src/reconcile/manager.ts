import { type JsonObject, type KubeObject, SYNC_MANAGER } from '../api/index.ts';
import { appliedFields } from '../plan/fields.ts';

/** The fields of one of our own objects that a Sync wrote. */
export function ourFieldsOf(object: KubeObject): JsonObject {
  return appliedFields(object.metadata.managedFields, SYNC_MANAGER)?.fields ?? {};
}
