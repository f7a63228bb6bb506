import { type InventoryEntry, isError, type KubeObject, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';

/** How many objects exist of each CustomResourceDefinition that may be deleted. What could not be counted stays `unknown`. */
export async function countInstances(
  client: KubeClient,
  dropped: readonly InventoryEntry[],
  live: ReadonlyMap<string, KubeObject>,
): Promise<Map<string, number | 'unknown'>> {
  const counts = new Map<string, number | 'unknown'>();
  for (const entry of dropped) {
    const definition = entry.kind === 'CustomResourceDefinition' ? live.get(refKey(entry)) : undefined;
    if (definition !== undefined) counts.set(entry.name, await countOf(client, definition));
  }
  return counts;
}

async function countOf(client: KubeClient, definition: KubeObject): Promise<number | 'unknown'> {
  const spec = definition.spec as
    | { group?: string; names?: { kind?: string }; versions?: { name?: string; served?: boolean }[] }
    | undefined;
  const version = spec?.versions?.find((one) => one.served === true)?.name;
  const { group } = spec ?? {};
  const kind = spec?.names?.kind;
  if (group === undefined || version === undefined || kind === undefined) return 'unknown';
  try {
    const { items } = await client.list({ apiVersion: `${group}/${version}`, kind, metadataOnly: true });
    return items.length;
  } catch (error) {
    // What time may heal is tried again by the caller: a definition left behind for a moment's trouble would stay for ever.
    if (isError(error, 'KubeKindUnknown', 'KubeForbidden')) return 'unknown';
    throw error;
  }
}
