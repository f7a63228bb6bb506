import type { Plugin, Sync } from '../../api/index.ts';
import { isSameSource } from '../own-sources.ts';
import type { PreviewInput } from '../preview.ts';
import type { OwnSource } from '../render-revision.ts';
import type { SyncParts } from '../sync-parts.ts';
import { withOwnSources } from './own-sources.ts';
import { reachOf } from './reach.ts';

/** What rendering a pull request may reach, of the agent's own parts. */
export async function withGiven<T>(
  parts: SyncParts,
  sync: Sync,
  isFork: boolean,
  use: (given: Pick<PreviewInput, 'ownSource' | 'helm' | 'isUntrusted'>) => Promise<T>,
): Promise<T> {
  const { client, view, charts } = parts;
  return await withOwnSources(client, (find) => {
    const means = { client, view, find, chartsFor: () => charts };
    return use(reachOf({ ...means, inForce: (plugin, live) => inForce(parts, plugin, live) }, sync, isFork));
  });
}

/** What the agent has read already for the Plugin in the cluster. */
async function inForce(parts: SyncParts, plugin: Plugin, live: Plugin): Promise<OwnSource | undefined> {
  const known = parts.ownSources.known(live);
  if (known === undefined || !isSameSource(plugin, live)) return undefined;
  return { tree: await parts.ownSources.tree(live), id: known.tree, commit: known.commit };
}
