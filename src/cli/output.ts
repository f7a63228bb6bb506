import { groupOf, type KubeObject } from '../api/objects.ts';

export type DataFormat = 'json' | 'yaml' | 'name';

/**
 * Objects as data: one by itself when it was asked for by name, else a `List`, as kubectl prints them. Who wrote which
 * field is left out, as kubectl does too.
 */
export async function formatObjects(
  objects: readonly KubeObject[],
  format: DataFormat,
  options: { single: boolean },
): Promise<string> {
  if (format === 'name') return objects.map(nameOf).join('\n');
  const items = objects.map(withoutManagers);
  const [only] = items;
  const list = { apiVersion: 'v1', kind: 'List', items, metadata: { resourceVersion: '' } };
  return await formatData(options.single && only !== undefined ? only : list, format);
}

/** Anything as JSON or YAML, without the line break at its end. */
export async function formatData(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return JSON.stringify(value, null, 2);
  const { stringify } = await import('yaml');
  // Readers of YAML 1.1, such as kubectl, would take `on` or `1:30` for something other than text.
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' }).trimEnd();
}

/** `plugin.espalier.dev/web`: what kubectl and our own commands take. */
export function nameOf(object: KubeObject): string {
  const group = groupOf(object.apiVersion);
  return `${object.kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${object.metadata.name}`;
}

function withoutManagers(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
