import type { PlannedPull, Sync } from '../../api/index.ts';
import { contentKey } from '../../resolve/key.ts';
import { withNested } from '../preview-nested.ts';
import type { SyncParts } from '../sync-parts.ts';

/** A rollout moves the cluster many times; plans of pull requests follow once it has come to rest. */
export const MOVED_DELAY_MS = 3_000;

export interface FactsInput {
  head: string;
  /** What the merge would make. */
  what: string;
  touched: readonly string[];
  kubernetes: string;
}

/** Everything that a plan is made from, as one hash: while it stays, so does the plan. */
export function factsFor(parts: SyncParts, sync: Sync, { head, what, touched, kubernetes }: FactsInput): string {
  return contentKey({
    ...{ head, what, kubernetes },
    generation: sync.metadata.generation ?? 0,
    plugins: withNested(touched, [...parts.plugins.values()]).map((key) => [key, clusterState(parts, key)]),
  });
}

/** How a Plugin stands in the cluster, as far as a plan depends on it: not whether it is healthy at the moment. */
function clusterState(parts: SyncParts, key: string): string {
  const plugin = parts.plugins.get(key);
  if (plugin === undefined) return '';
  const { revision, inventory = [], drift = [], resolved } = plugin.status ?? {};
  return contentKey({
    revision: revision?.key ?? '',
    resolved: resolved?.id ?? '',
    suspend: plugin.spec.suspend,
    inventory: inventory.map(({ apiVersion, kind, namespace = '', name, uid = '', applied = '' }) =>
      [apiVersion, kind, namespace, name, uid, applied].join(' '),
    ),
    drift: drift.map(({ object, fields }) => [object, ...fields]),
  });
}

/** Open pull requests whose plan is about one of these Plugins. */
export function pullsAbout(pulls: readonly PlannedPull[] | undefined, about: readonly string[]): number[] {
  return (pulls ?? [])
    .filter(({ plugins, closed }) => closed !== true && about.some((plugin) => plugins.includes(plugin)))
    .map(({ number }) => number);
}
