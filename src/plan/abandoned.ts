import type { Json, JsonObject, KubeObject } from '../api/index.ts';
import type { FieldChange } from './changes.ts';
import { type FieldPath, parseElement, printPath, stepInto } from './field-path.ts';
import { appliedFields, holdsPath } from './fields.ts';
import { asJson, fieldOf, isObject } from './json.ts';

/**
 * Fields that our last apply set and that the declaration no longer has: the next apply removes them, unless another
 * manager holds them too. Server-side dry run tells the same; this is for plans made without one.
 */
export function abandonedFields(live: KubeObject, declared: KubeObject, manager: string): FieldChange[] {
  const { managedFields } = live.metadata;
  const ours = appliedFields(managedFields, manager)?.fields ?? {};
  const others = (managedFields ?? []).filter((entry) => entry.manager !== manager || entry.operation !== 'Apply');
  const isShared = (path: FieldPath) => others.some((entry) => holdsPath(entry.fieldsV1 ?? {}, path));
  const changes: FieldChange[] = [];

  function visit(fields: JsonObject, said: Json | undefined, is: Json | undefined, at: FieldPath): void {
    for (const name of Object.keys(fields)) {
      const node = fieldOf(fields, name);
      if (name === '.' || !isObject(node)) continue;
      const element = parseElement(name);
      const path = [...at, element];
      const [declaredValue, liveValue] = [stepInto(said, element), stepInto(is, element)];
      if (liveValue === undefined) continue;
      if (declaredValue !== undefined) visit(node, declaredValue, liveValue, path);
      else if (!isShared(path)) changes.push({ path: printPath(path), op: 'remove', old: liveValue });
    }
  }
  visit(ours, asJson(declared), asJson(live), []);
  return changes;
}
