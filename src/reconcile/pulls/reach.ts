import { EspalierError, type Plugin, type Sync } from '../../api/index.ts';
import type { KubeClient } from '../../cluster/client.ts';
import { hasChartSource, sourceHash } from '../chart-sources.ts';
import type { PreviewInput } from '../preview.ts';
import type { OwnSource } from '../render-revision.ts';
import { type FindOwnSource, refuseOwnSource } from './own-sources.ts';

const ELSEWHERE = 'which a pull request from another repository does not make Espalier fetch';

/** Where charts and repositories come from that Plugins name themselves. */
export interface Means extends Pick<PreviewInput['helm'], 'view' | 'chartsFor'> {
  client: KubeClient;
  /** The files of a Plugin whose source is that of the one in the cluster; undefined where they are not at hand. */
  inForce(plugin: Plugin, live: Plugin): Promise<OwnSource | undefined>;
  find: FindOwnSource;
}

/**
 * What rendering a pull request may reach. A head of the followed repository may fetch what it declares, with
 * credentials for what is in force already. One from a fork gets what is in force and nothing else.
 */
export function reachOf(
  { client, view, chartsFor, inForce, find }: Means,
  sync: Sync,
  isFork: boolean,
): Pick<PreviewInput, 'ownSource' | 'helm' | 'isUntrusted'> {
  const name = sync.spec.forge?.previewServiceAccountName;
  const account = `system:serviceaccount:${sync.metadata.namespace}:${name}`;
  const lookups = isFork ? 'none' : name === undefined ? undefined : client.as({ name: account });
  return {
    isUntrusted: isFork,
    helm: {
      view,
      chartsFor(plugin, live) {
        if (isFork && hasChartSource(plugin) && !isInForce(plugin, live)) {
          const message = `its source is on another server, ${ELSEWHERE}`;
          throw new EspalierError('SourceMissing', message, { retry: false });
        }
        return chartsFor(plugin, live);
      },
      ...(lookups === undefined ? {} : { lookups }),
    },
    ownSource: async (plugin, live) => {
      const known = live === undefined ? undefined : await inForce(plugin, live);
      return known ?? (await (isFork ? refuseOwnSource(ELSEWHERE) : find)(plugin, live));
    },
  };
}

function isInForce(plugin: Plugin, live: Plugin | undefined): boolean {
  return live?.status?.resolved !== undefined && live.status.resolved.source === sourceHash(plugin);
}
