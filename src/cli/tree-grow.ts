import { type InventoryEntry, withInventoryEntries } from '../api/inventory-line.ts';
import { refKey, refOf } from '../api/objects.ts';
import type { KubeClient } from '../cluster/client.ts';
import { isSync, type Ours } from './standing.ts';
import { fetchObjects } from './tree-fetch.ts';
import { type Branch, nodeOf, type Twig } from './tree-model.ts';
import type { TreeNode } from './tree-node.ts';
import { objectNode } from './tree-object.ts';

/** Makes nodes of branches, and asks the API server for objects only as far down as they are shown. */
export async function growTree(client: KubeClient, branches: readonly Branch[], depth: number): Promise<TreeNode[]> {
  const live = await fetchObjects(
    client,
    branches.flatMap((branch) => entriesOf(branch, depth)),
  );
  function grow(owner: Ours, level: number, twigs: readonly Twig[]): TreeNode {
    if (level === depth) return nodeOf(owner);
    const plugin = isSync(owner) ? undefined : owner;
    const objects = recordOf(owner, twigs).map((entry) =>
      objectNode(entry, live.get(refKey(entry)) ?? 'absent', plugin),
    );
    return { ...nodeOf(owner), children: [...twigs.map((one) => grow(one.plugin, level + 1, one.nested)), ...objects] };
  }
  return branches.map((branch) =>
    'plugin' in branch ? grow(branch.plugin, 1, branch.nested) : grow(branch.sync, 1, branch.plugins),
  );
}

function entriesOf(branch: Branch, depth: number): InventoryEntry[] {
  if (depth < 2) return [];
  const [owner, twigs] = 'plugin' in branch ? [branch.plugin, branch.nested] : [branch.sync, branch.plugins];
  return [...recordOf(owner, twigs), ...twigs.flatMap((twig) => entriesOf(twig, depth - 1))];
}

/** The objects on record; of a Sync those beside Plugins, such as Extensions, for Plugins are nodes of their own. */
function recordOf(owner: Ours, twigs: readonly Twig[]): InventoryEntry[] {
  const record: InventoryEntry[] = withInventoryEntries(owner.status ?? {}).inventory ?? [];
  const shown = new Set(twigs.map(({ plugin }) => refKey(refOf(plugin))));
  return record.filter((entry) => !(isSync(owner) ? entry.kind === 'Plugin' : shown.has(refKey(entry))));
}
