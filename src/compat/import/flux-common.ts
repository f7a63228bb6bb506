import type { Json, JsonObject } from '../../api/index.ts';
import type { Leave } from './imported.ts';
import { listAt, present, textAt } from './read.ts';
import { type FluxWorld, fluxKey } from './world.ts';

export const SUSPENDED = 'its Plugin is suspended too: take suspend out of its file when it shall be taken over';

/** `spec.dependsOn`, which names objects of the same kind. */
export function fluxDependencies(
  kind: string,
  spec: unknown,
  namespace: string,
  world: FluxWorld,
  leave: Leave,
): Json[] {
  return listAt(spec, 'dependsOn').flatMap((entry, index): JsonObject[] => {
    const key = fluxKey(kind, textAt(entry, 'namespace') ?? namespace, textAt(entry, 'name') ?? '');
    const plugin = world.plugins.get(key);
    if (plugin === undefined) {
      leave(`spec.dependsOn[${index}]`, `there is no Plugin for ${key}`);
      return [];
    }
    if (textAt(entry, 'readyExpr') !== undefined)
      leave(`spec.dependsOn[${index}].readyExpr`, 'a Plugin is waited for until it is ready');
    return [present({ name: plugin.name, namespace: plugin.namespace === namespace ? undefined : plugin.namespace })];
  });
}

/** `spec.healthCheckExprs`: CEL in both. */
export function fluxHealth(spec: unknown, leave: Leave): Json[] {
  return listAt(spec, 'healthCheckExprs').flatMap((entry, index): JsonObject[] => {
    const [apiVersion, kind, ready] = [textAt(entry, 'apiVersion'), textAt(entry, 'kind'), textAt(entry, 'current')];
    if (apiVersion === undefined || kind === undefined || ready === undefined) return [];
    for (const field of ['inProgress', 'failed'])
      if (textAt(entry, field) !== undefined)
        leave(`spec.healthCheckExprs[${index}].${field}`, 'there is one expression, for what is healthy');
    return [{ apiVersion, kind, ready }];
  });
}

/** Objects of the old tool that one of its objects itself applies: they would be applied on, without anybody to read them. */
export function ownKindsIn(entries: readonly Json[], group: RegExp): { own: string[]; others: number } {
  const own: string[] = [];
  let others = 0;
  for (const entry of entries) {
    // Flux writes `namespace_name_group_Kind`, Argo CD a map.
    const id = textAt(entry, 'id')?.split('_');
    const [entryGroup, kind, name] =
      id === undefined
        ? [textAt(entry, 'group') ?? '', textAt(entry, 'kind'), textAt(entry, 'name')]
        : [id[2] ?? '', id[3], id[1]];
    if (group.test(entryGroup)) own.push(`${kind} ${name}`);
    else others += 1;
  }
  return { own, others };
}
