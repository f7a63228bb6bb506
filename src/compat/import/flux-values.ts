import type { JsonObject } from '../../api/index.ts';
import type { Leave } from './imported.ts';
import { isOn, listAt, present, textAt } from './read.ts';

/** `spec.valuesFrom` of a HelmRelease: the ConfigMaps and Secrets stay where they are, and are named. */
export function valuesFromOf(spec: unknown, leave: Leave): JsonObject[] {
  return listAt(spec, 'valuesFrom').flatMap((entry, index): JsonObject[] => {
    const [kind, name] = [textAt(entry, 'kind'), textAt(entry, 'name')];
    if (kind === undefined || name === undefined) return [];
    const key = textAt(entry, 'valuesKey') ?? 'values.yaml';
    const optional = isOn(entry, 'optional') ? true : undefined;
    const path = textAt(entry, 'targetPath');
    if (path === undefined) {
      if (/\.(ya?ml|json)$/.test(key)) return [present({ kind, name, key, optional })];
      const why = `key ${key} of ${kind} ${name} holds a document of values: give the key a name that ends in .yaml`;
      leave(`spec.valuesFrom[${index}]`, why);
      return [];
    }
    const prefix = prefixFor(path, key);
    if (prefix !== undefined)
      return [present({ kind, name, key, prefix: prefix === '' ? undefined : prefix, optional })];
    const [, parent = '', last = path] = /^(.*?)\.?([^.]+)$/.exec(path) ?? [];
    const under = parent === '' ? '' : ` with prefix ${parent}`;
    leave(
      `spec.valuesFrom[${index}]`,
      `name the key of ${kind} ${name} after its place: a key ${last}${under} in place of ${key}`,
    );
    return [];
  });
}

/** A key is itself the end of the path of its value; what stands before it is the prefix. Undefined when it is not the end. */
function prefixFor(path: string, key: string): string | undefined {
  if (/\.(ya?ml|json)$/.test(key) || key.includes('\\')) return undefined;
  if (path === key) return '';
  return path.endsWith(`.${key}`) && !path.endsWith(`\\.${key}`) ? path.slice(0, -key.length - 1) : undefined;
}
