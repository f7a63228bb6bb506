import type { JsonObject, Plugin, Sync } from '../api/index.ts';
import type { ImageField } from '../images/fields.ts';
import type { ImageRule } from '../images/rules.ts';
import { factsKeyOf, parentsOf, syncKeyOf } from './nesting.ts';
import { keyOf, type Store } from './store.ts';

/** What a Plugin takes from its surroundings: the Sync that it comes from, those it is nested in, and the cluster. */
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
  /** Conditions that may be left to operators of expansion packages. */
  delegateConditions: readonly string[];
  reportImages: boolean;
  hold: { percent: number; count: number };
  pruneEnabled: boolean;
  /** Whose rights rendering and applying have; undefined is the agent's own. */
  account: Account | undefined;
  sync: Sync | undefined;
  /** Keys of the Plugins that it is nested in, nearest first. */
  parents: readonly string[];
}

export interface Account {
  namespace: string;
  name: string;
}

/** `refused`: no time heals it, somebody has to change what is declared. */
export type FactsAnswer = { known: true; facts: Facts } | { known: false; why: string; refused?: true };

export interface FactsParts {
  plugins: Pick<Store<Plugin>, 'get'>;
  syncs: Pick<Store<Sync>, 'get'>;
  kubernetes(): string | undefined;
}

/**
 * A Plugin whose Sync, or whose parent, is not there is not treated as one without: it would lose its values and
 * rewriting, and gain the rights of the agent.
 */
export function factsOf({ plugins, syncs, kubernetes }: FactsParts, plugin: Plugin): FactsAnswer {
  const nesting = parentsOf(plugin, (key) => plugins.get(key));
  if (nesting.state === 'missing') return { known: false, why: `Plugin ${nesting.key}, which rendered this Plugin` };
  if (nesting.state === 'refused') return { known: false, why: nesting.why, refused: true };
  const root = nesting.parents.at(-1) ?? plugin;
  const syncKey = factsKeyOf(root);
  const sync = syncKey === undefined ? undefined : syncs.get(syncKey);
  if (syncKey !== undefined && sync === undefined) {
    const wrote = root === plugin ? 'which wrote this Plugin' : `which wrote Plugin ${keyOf(root)}`;
    return { known: false, why: `Sync ${syncKey}, ${wrote}` };
  }
  const why = whyRefused(plugin, sync, nesting.parents);
  if (why !== undefined) return { known: false, why, refused: true };
  return { known: true, facts: factsFrom(plugin, sync, kubernetes(), nesting.parents) };
}

/** `parents`: what it is nested in, nearest first. Refused ones (`whyRefused`) must not come here. */
export function factsFrom(
  plugin: Plugin,
  sync: Sync | undefined,
  kubernetes: string | undefined,
  parents: readonly Plugin[] = [],
): Facts {
  return {
    kubernetes,
    clusterName: sync?.spec.cluster?.name,
    labels: sync?.spec.cluster?.labels ?? {},
    values: sync?.spec.values ?? {},
    images: sync?.spec.images?.rewrite ?? [],
    imageFields: sync?.spec.images?.fields ?? [],
    delegateConditions: sync?.spec.expansions?.delegateConditions ?? [],
    reportImages: sync?.spec.images?.report ?? true,
    hold: { percent: sync?.spec.prune?.hold?.percent ?? 50, count: sync?.spec.prune?.hold?.count ?? 20 },
    pruneEnabled: sync?.spec.prune?.enabled ?? true,
    account: narrowedBy(parents)?.account ?? ownAccount(plugin) ?? accountOfSync(sync),
    sync,
    parents: parents.map(keyOf),
  };
}

/**
 * Why a Plugin that no Sync wrote may not take the facts of one, or those of its parents. What a Sync writes itself is
 * checked when its revision is compiled.
 */
export function whyRefused(plugin: Plugin, sync: Sync | undefined, parents: readonly Plugin[]): string | undefined {
  const isWritten = parents.length === 0 && syncKeyOf(plugin) !== undefined;
  const allowed = isWritten ? undefined : sync?.spec.allowedNamespaces;
  const outside = [plugin.metadata.namespace, plugin.spec.namespace?.name].find(
    (one) => allowed !== undefined && one !== undefined && one !== sync?.metadata.namespace && !allowed.includes(one),
  );
  if (outside !== undefined)
    return `the namespace "${outside}" is not among spec.allowedNamespaces of Sync ${sync === undefined ? '' : keyOf(sync)}`;
  const [narrowed, own] = [narrowedBy(parents), ownAccount(plugin)];
  if (narrowed === undefined || own === undefined || isSame(narrowed.account, own)) return undefined;
  const { namespace, name } = narrowed.account;
  return `spec.serviceAccountName means ${own.namespace}/${own.name}, but Plugin ${narrowed.by}, which renders it, runs as ${namespace}/${name}: leave it out`;
}

/** What a parent does with the rights of an account of its own, it can't have done by others with more. */
function narrowedBy(parents: readonly Plugin[]): { by: string; account: Account } | undefined {
  for (const parent of parents) {
    const account = ownAccount(parent);
    if (account !== undefined) return { by: keyOf(parent), account };
  }
  return undefined;
}

function ownAccount({ metadata, spec }: Plugin): Account | undefined {
  const { serviceAccountName: name } = spec;
  return name === undefined ? undefined : { namespace: metadata.namespace ?? '', name };
}

function accountOfSync(sync: Sync | undefined): Account | undefined {
  const name = sync?.spec.serviceAccountName;
  return name === undefined ? undefined : { namespace: sync?.metadata.namespace ?? '', name };
}

function isSame(a: Account, b: Account): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}
