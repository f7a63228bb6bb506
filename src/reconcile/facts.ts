import { type JsonObject, type KubeObject, LABEL, type Plugin, type Sync } from '../api/index.ts';
import type { ImageField } from '../images/fields.ts';
import type { ImageRule } from '../images/rules.ts';
import { keyOf, type Store } from './store.ts';

/** What a Plugin takes from its surroundings: the Sync that wrote it, and the cluster. */
export interface Facts {
  /** `gitVersion` of the API server. */
  kubernetes: string | undefined;
  clusterName: string | undefined;
  labels: Readonly<Record<string, string>>;
  /** The Sync's global values. */
  values: JsonObject;
  images: readonly ImageRule[];
  /** Where kinds that are not Kubernetes' own name images. */
  imageFields: readonly ImageField[];
  reportImages: boolean;
  hold: { percent: number; count: number };
  pruneEnabled: boolean;
  /** Whose rights rendering and applying have; undefined is the agent's own. */
  account: { namespace: string; name: string } | undefined;
  sync: Sync | undefined;
}

export type FactsAnswer = { known: true; facts: Facts } | { known: false; why: string };

/** Key of the Sync that wrote an object of ours, by its labels. */
export function syncKeyOf({ metadata }: Pick<KubeObject, 'metadata'>): string | undefined {
  const labels = metadata.labels ?? {};
  const name = labels[LABEL.sync];
  return name === undefined ? undefined : keyOf({ metadata: { namespace: labels[LABEL.syncNamespace], name } });
}

/** A Plugin whose Sync is not there is not treated as one without a Sync: it would lose its values, account and rewriting. */
export function factsOf(plugin: Plugin, syncs: Pick<Store<Sync>, 'get'>, kubernetes: string | undefined): FactsAnswer {
  const syncKey = syncKeyOf(plugin);
  const sync = syncKey === undefined ? undefined : syncs.get(syncKey);
  if (syncKey !== undefined && sync === undefined) {
    return { known: false, why: `Sync ${syncKey}, which wrote this Plugin` };
  }
  return { known: true, facts: factsFrom(plugin, sync, kubernetes) };
}

export function factsFrom(plugin: Plugin, sync: Sync | undefined, kubernetes: string | undefined): Facts {
  return {
    kubernetes,
    clusterName: sync?.spec.cluster?.name,
    labels: sync?.spec.cluster?.labels ?? {},
    values: sync?.spec.values ?? {},
    images: sync?.spec.images?.rewrite ?? [],
    imageFields: sync?.spec.images?.fields ?? [],
    reportImages: sync?.spec.images?.report ?? true,
    hold: { percent: sync?.spec.prune?.hold?.percent ?? 50, count: sync?.spec.prune?.hold?.count ?? 20 },
    pruneEnabled: sync?.spec.prune?.enabled ?? true,
    account: accountOf(plugin, sync),
    sync,
  };
}

function accountOf(plugin: Plugin, sync: Sync | undefined): Facts['account'] {
  if (plugin.spec.serviceAccountName !== undefined)
    return { namespace: plugin.metadata.namespace ?? '', name: plugin.spec.serviceAccountName };
  if (sync?.spec.serviceAccountName !== undefined)
    return { namespace: sync.metadata.namespace ?? '', name: sync.spec.serviceAccountName };
  return undefined;
}
