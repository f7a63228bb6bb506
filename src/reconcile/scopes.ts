import { isError, type KubeObject } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Scope } from '../render/finish.ts';

/** Tells which kinds live in namespaces: the API server, or whoever stands in for it. */
export type Kinds = Pick<KubeClient, 'resource'>;

interface DefinitionSpec {
  group?: string;
  scope?: string;
  names?: { kind?: string };
  versions?: { name?: string }[];
}

/** What CustomResourceDefinitions among objects say of their kinds, by `apiVersion Kind`. */
export function definedScopes(objects: readonly KubeObject[]): Map<string, Scope> {
  const scopes = new Map<string, Scope>();
  for (const { kind, spec } of objects) {
    if (kind !== 'CustomResourceDefinition') continue;
    const { group, scope, names, versions } = (spec ?? {}) as DefinitionSpec;
    for (const { name } of versions ?? [])
      scopes.set(`${group}/${name} ${names?.kind}`, scope === 'Cluster' ? 'Cluster' : 'Namespaced');
  }
  return scopes;
}

/** The scope of every kind among the objects. One that nobody serves yet may be defined among the objects themselves. */
export async function scopesOf(kinds: Kinds, objects: readonly KubeObject[]): Promise<Map<string, Scope>> {
  const scopes = definedScopes(objects);
  for (const { apiVersion, kind } of objects) {
    const key = `${apiVersion} ${kind}`;
    if (scopes.has(key)) continue;
    try {
      const { namespaced } = await kinds.resource(apiVersion, kind);
      scopes.set(key, namespaced ? 'Namespaced' : 'Cluster');
    } catch (error) {
      if (!isError(error, 'KubeKindUnknown')) throw error;
      scopes.set(key, 'unknown');
    }
  }
  return scopes;
}
