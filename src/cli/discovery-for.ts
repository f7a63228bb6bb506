import type { KubeClient } from '../cluster/client.ts';
import { readerOf } from '../reconcile/render-chart.ts';
import type { ReadPath } from '../render/cluster-view.ts';
import { discoveryAt } from '../render/discovery-at.ts';
import { introducedBetween, isServedIn, type KubernetesTarget, minorOf } from '../resolve/served-apis.ts';
import { offlineDiscovery } from './offline-discovery.ts';

/** What charts are told of a cluster once it is of that release. Without one: of a plain cluster of that release. */
export async function discoveryFor(
  client: KubeClient | undefined,
  { gitVersion, minor }: KubernetesTarget,
): Promise<ReadPath> {
  const now = client === undefined ? minor : (minorOf((await client.version()).gitVersion) ?? minor);
  return discoveryAt(client === undefined ? offlineDiscovery(gitVersion) : readerOf(client), {
    gitVersion,
    serves: (apiVersion, kind) => isServedIn(minor, apiVersion, kind),
    brings: introducedBetween(now, minor),
  });
}
