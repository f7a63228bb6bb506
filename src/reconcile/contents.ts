import {
  groupOf,
  type InventoryEntry,
  isError,
  type KubeObject,
  type ObjectRef,
  type Plugin,
  refKey,
  refOf,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { keyOf } from './store.ts';

/** What definitions and namespaces that may go would take along, for a plan. */
export type Contents = Required<Pick<PlanInput, 'instancesOf' | 'claimsIn'>>;

/**
 * Looks into those of the dropped objects that hold others. What could not be found out stays `unknown`. Objects that are
 * leaving already (by reference key) don't count: they are waited for.
 */
export async function contentsOf(
  client: KubeClient,
  { spec }: Plugin,
  dropped: readonly InventoryEntry[],
  live: ReadonlyMap<string, KubeObject>,
  leaving: ReadonlySet<string>,
): Promise<Contents> {
  const instances = new Map<string, number | 'unknown'>();
  const claims = new Map<string, readonly string[] | 'unknown'>();
  const { namespaces, volumes } = spec.deletion;
  for (const entry of dropped) {
    const object = live.get(refKey(entry));
    if (object === undefined) continue;
    if (isDefinition(entry)) instances.set(entry.name, await countInstances(client, object, leaving));
    else if (isNamespace(entry) && namespaces === 'delete' && volumes === 'keep')
      claims.set(entry.name, await claimsIn(client, entry.name));
  }
  return { instancesOf: (name) => instances.get(name), claimsIn: (name) => claims.get(name) };
}

export function isDefinition({ apiVersion, kind }: Pick<InventoryEntry, 'apiVersion' | 'kind'>): boolean {
  return kind === 'CustomResourceDefinition' && groupOf(apiVersion) === 'apiextensions.k8s.io';
}

export function isNamespace({ apiVersion, kind }: Pick<InventoryEntry, 'apiVersion' | 'kind'>): boolean {
  return kind === 'Namespace' && apiVersion === 'v1';
}

/** How many objects of a CustomResourceDefinition exist, beside those that are left out. */
export async function countInstances(
  client: KubeClient,
  definition: KubeObject,
  without: ReadonlySet<string> = new Set(),
): Promise<number | 'unknown'> {
  const spec = definition.spec as
    | { group?: string; names?: { kind?: string }; versions?: { name?: string; served?: boolean }[] }
    | undefined;
  const version = spec?.versions?.find((one) => one.served === true)?.name;
  const { group } = spec ?? {};
  const kind = spec?.names?.kind;
  if (group === undefined || version === undefined || kind === undefined) return 'unknown';
  const refs = await refsOf(client, { apiVersion: `${group}/${version}`, kind });
  return refs?.filter((ref) => !without.has(refKey(ref))).length ?? 'unknown';
}

/** The volume claims in a namespace: they would go with it. */
export async function claimsIn(client: KubeClient, namespace: string): Promise<readonly string[] | 'unknown'> {
  const refs = await refsOf(client, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace });
  return refs?.map((ref) => ref.name) ?? 'unknown';
}

async function refsOf(
  client: KubeClient,
  target: { apiVersion: string; kind: string; namespace?: string },
): Promise<ObjectRef[] | undefined> {
  try {
    const { items } = await client.list({ ...target, metadataOnly: true });
    return items.map(({ metadata }) => refOf({ ...target, metadata }));
  } catch (error) {
    // Trouble that may pass is for the caller to try again: what is left behind for it would stay for ever.
    if (isError(error, 'KubeKindUnknown', 'KubeForbidden')) return undefined;
    throw error;
  }
}

/** Another Plugin with objects in a namespace. */
export function namespaceUser(plugins: Iterable<Plugin>, key: string, namespace: string): string | undefined {
  for (const plugin of plugins) {
    const other = keyOf(plugin);
    if (other !== key && (plugin.status?.inventory ?? []).some((entry) => entry.namespace === namespace)) return other;
  }
  return undefined;
}
