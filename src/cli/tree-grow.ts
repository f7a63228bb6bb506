import type { InventoryEntry } from '../api/index.ts';
import { refKey } from '../api/objects.ts';
import type { KubeClient } from '../cluster/client.ts';
import { isSync, type Ours } from './standing.ts';
import { fetchObjects } from './tree-fetch.ts';
import { type Branch, nodeOf } from './tree-model.ts';
import type { TreeNode } from './tree-node.ts';
import { objectNode } from './tree-object.ts';

/** Makes nodes of branches, and asks the API server for objects only as far down as they are shown. */
export async function growTree(client: KubeClient, branches: readonly Branch[], depth: number): Promise<TreeNode[]> {
  const live = await fetchObjects(
    client,
    branches.flatMap((branch) => entriesOf(branch, depth)),
  );
  function grow(owner: Ours, level: number, plugins: readonly Ours[] = []): TreeNode {
    if (level === depth) return nodeOf(owner);
    const plugin = isSync(owner) ? undefined : owner;
    const objects = recordOf(owner).map((entry) => objectNode(entry, live.get(refKey(entry)) ?? 'absent', plugin));
    return { ...nodeOf(owner), children: [...plugins.map((one) => grow(one, level + 1)), ...objects] };
  }
  return branches.map((branch) => ('plugin' in branch ? grow(branch.plugin, 1) : grow(branch.sync, 1, branch.plugins)));
}

function entriesOf(branch: Branch, depth: number): InventoryEntry[] {
  if (depth < 2) return [];
  if ('plugin' in branch) return recordOf(branch.plugin);
  return [...recordOf(branch.sync), ...(depth < 3 ? [] : branch.plugins.flatMap(recordOf))];
}

/** The objects on record; of a Sync those beside Plugins, such as Extensions, for Plugins are nodes of their own. */
function recordOf(owner: Ours): InventoryEntry[] {
  const record: InventoryEntry[] = owner.status?.inventory ?? [];
  return isSync(owner) ? record.filter(({ kind }) => kind !== 'Plugin') : record;
}
