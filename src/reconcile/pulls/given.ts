import { EspalierError, type Plugin, type Sync } from '../../api/index.ts';
import { hasChartSource, sourceHash } from '../chart-sources.ts';
import type { PreviewInput } from '../preview.ts';
import type { OwnSource } from '../render-revision.ts';
import type { SyncParts } from '../sync-parts.ts';
import { refuseOwnSource, withOwnSources } from './own-sources.ts';

const ELSEWHERE = 'which a pull request from another repository does not make the agent fetch';

/**
 * What rendering a pull request may reach. A head of the followed repository may fetch what it declares, with
 * credentials for what is in force already. One from a fork gets what is in force and nothing else.
 */
export async function withGiven<T>(
  parts: SyncParts,
  sync: Sync,
  isFork: boolean,
  use: (given: Pick<PreviewInput, 'ownSource' | 'helm' | 'isUntrusted'>) => Promise<T>,
): Promise<T> {
  const name = sync.spec.forge?.previewServiceAccountName;
  const account = `system:serviceaccount:${sync.metadata.namespace}:${name}`;
  const lookups = isFork ? 'none' : name === undefined ? undefined : parts.client.as({ name: account });
  const helm: PreviewInput['helm'] = {
    view: parts.view,
    chartsFor(plugin, live) {
      if (isFork && hasChartSource(plugin) && !isInForce(plugin, live)) {
        const message = `its chart is in a repository or registry, ${ELSEWHERE}`;
        throw new EspalierError('SourceMissing', message, { retry: false });
      }
      return parts.charts;
    },
    ...(lookups === undefined ? {} : { lookups }),
  };
  return await withOwnSources(parts.client, (find) =>
    use({
      helm,
      isUntrusted: isFork,
      ownSource: async (plugin, live) =>
        (await inForce(parts, plugin, live)) ?? (await (isFork ? refuseOwnSource(ELSEWHERE) : find)(plugin, live)),
    }),
  );
}

function isInForce(plugin: Plugin, live: Plugin | undefined): boolean {
  return live?.status?.resolved !== undefined && live.status.resolved.source === sourceHash(plugin);
}

/** What the agent has read already for the Plugin in the cluster. */
async function inForce(parts: SyncParts, plugin: Plugin, live: Plugin | undefined): Promise<OwnSource | undefined> {
  const known = live === undefined ? undefined : parts.ownSources.known(live);
  if (live === undefined || known === undefined || !parts.ownSources.isSame(plugin, live)) return undefined;
  return { tree: await parts.ownSources.tree(live), id: known.tree, commit: known.commit };
}
