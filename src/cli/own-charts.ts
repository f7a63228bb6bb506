import { join } from 'node:path';
import { EspalierError, type Plugin } from '../api/index.ts';
import { type Charts, createCharts } from '../charts/charts.ts';
import { hasChartSource, sourceHash } from '../reconcile/chart-sources.ts';
import type { RenderRevisionInput } from '../reconcile/render-revision.ts';
import { ClusterView, type ReadPath } from '../render/cluster-view.ts';
import { openScratchFolder } from '../tools/scratch-folder.ts';
import type { CatalogueOptions } from './catalogue.ts';
import { offlineDiscovery } from './offline-discovery.ts';

/** Where charts may come from besides what the rules for hostile repositories allow. */
export interface ChartReach {
  /** Hosts that speak plain http. */
  plainHttp: readonly string[];
  privateAddresses: boolean;
}

/**
 * Charts for one command, in a folder that goes with it. What a repository declares is hostile until proven: private
 * addresses are for sources alone that the Plugin in the cluster has already. `trusted`: all of them come from the cluster.
 */
export async function withHelm<T>(
  use: (helm: RenderRevisionInput['helm'], registry: CatalogueOptions['charts']) => Promise<T>,
  {
    offline = false,
    trusted = false,
    kubernetes,
    charts: reach,
  }: { offline?: boolean; trusted?: boolean; kubernetes?: string | undefined; charts?: ChartReach } = {},
): Promise<T> {
  const folder = openScratchFolder('espalier-charts-');
  const open = new Map<boolean, Charts>();
  const view = new ClusterView();
  const discovery: { discovery?: ReadPath } = offline ? { discovery: offlineDiscovery(kubernetes) } : {};
  const chartsFor = (plugin: Plugin, live: Plugin | undefined): Charts => {
    if (offline && reach === undefined && hasChartSource(plugin)) {
      const message = 'its source is on another server, which is not looked at with --offline';
      throw new EspalierError('SourceMissing', message, { retry: false });
    }
    return opened(trusted || (live !== undefined && sourceHash(live) === sourceHash(plugin)));
  };
  function opened(isKnown: boolean): Charts {
    const addresses = { http: isKnown, privateAddresses: isKnown || reach?.privateAddresses === true };
    const plainHttp = reach?.plainHttp ?? [];
    const charts =
      open.get(isKnown) ?? createCharts({ cacheDir: join(folder.path, String(isKnown)), addresses, plainHttp });
    open.set(isKnown, charts);
    return charts;
  }
  try {
    return await use({ chartsFor, view, ...discovery }, (isKnown) =>
      offline && reach === undefined ? undefined : opened(isKnown),
    );
  } finally {
    await Promise.all([...open.values()].map((charts) => charts.close()));
    await view.close();
    await folder.remove();
  }
}
