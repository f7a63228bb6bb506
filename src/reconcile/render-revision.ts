import { isError, type KubeObject, messageOf, type Plugin, readAs, type Sync } from '../api/index.ts';
import type { Charts } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import { settleAll } from '../converge/limit.ts';
import type { FileTree } from '../git/tree.ts';
import type { Compiled } from './compile.ts';
import type { Facts } from './facts.ts';
import { renderCandidate } from './render-candidate.ts';
import type { RenderChartInput } from './render-chart.ts';
import { renderNested } from './render-nested.ts';
import type { Rendered } from './rendered.ts';
import { definedScopes, type Kinds } from './scopes.ts';
import { keyOf } from './store.ts';
import type { Wanted } from './wanted.ts';

/** Where the ref of a Plugin with a repository of its own stands. */
export interface OwnSource {
  tree: FileTree;
  /** Git id of its path. */
  id: string;
  commit: string;
}

/** A Plugin to render, or why there is none. */
export type Standing = { plugin: Plugin } | { waits: string } | { fault: string; file?: string };

export interface RenderRevisionInput {
  /** For ConfigMaps and Secrets of values; without one, Plugins that need some wait. */
  client: KubeClient | undefined;
  kinds: Kinds;
  sync: Sync;
  tree: FileTree;
  /** What it declares, in steps; Plugins alone are rendered. */
  compiled: Pick<Compiled, 'levels'> & Partial<Pick<Compiled, 'plugins'>>;
  kubernetes: string | undefined;
  /** Plugins in the cluster. */
  live: ReadonlyMap<string, Plugin>;
  ownSource(plugin: Plugin, live: Plugin | undefined): Promise<OwnSource>;
  /** Where charts come from, and what Helm sees of a cluster meanwhile. */
  helm: { chartsFor(plugin: Plugin, live: Plugin | undefined): Charts } & Pick<
    RenderChartInput,
    'view' | 'discovery' | 'lookups'
  >;
  /** Plugins to render; the others of the revision are taken as they are. All when left out. */
  touched?: ReadonlySet<string>;
  /** Which Plugins to render that Plugins render; none when left out. */
  nested?: 'changed' | 'all';
  /** What a nested Plugin would be in the cluster. Left out: as it is rendered, with the status of now. */
  standingNested?(object: KubeObject, live: Plugin | undefined, account: Facts['account']): Promise<Plugin>;
  /** Somebody without rights wrote it: it gets nothing of the cluster's Secrets and ConfigMaps. */
  isUntrusted?: boolean;
  signal?: AbortSignal;
  /** Hears of every rendering; for metrics. */
  onRendered?(kind: Plugin['spec']['kind'], ms: number): void;
  /** What becomes of a declaration in the cluster. Left out: just what is declared, with the status of now. */
  standing?(wanted: Wanted, live: Plugin | undefined): Promise<Standing>;
}

/** A Plugin of a revision with all that its plan needs. */
export interface RevisionPlugin {
  key: string;
  plugin: Plugin;
  facts: Facts;
  /** What it is nested in, nearest first. */
  parents: readonly Plugin[];
  /** Undefined where it is not for this cluster, or as before. */
  rendered: Rendered | undefined;
  whyNot?: string;
  /** A nested one whose inputs are those that are applied: it is not rendered. */
  asBefore?: true;
  /** Its inputs are not those that are applied. */
  isNew: boolean;
  /** What came from Secrets. */
  secrets: readonly string[];
  /** The commit that it is made from, where that is known. */
  commit: string | undefined;
}

/** What was rendered, and how to do it again knowing more kinds. */
export type Rendering = { plugin: RevisionPlugin; again?: (kinds: Kinds) => Promise<Rendered> };

export interface RenderedRevision {
  plugins: RevisionPlugin[];
  faults: { plugin: string; message: string; file?: string }[];
  waits: { plugin: string; for: string }[];
  /** Keys of all Plugins that Plugins of the revision render, whatever became of them. */
  nested: Set<string>;
}

export const PARALLEL_PLUGINS = 4;
const NAMELESS = { plural: '', verbs: [], subresources: [], shortNames: [] };

/** Renders every Plugin of a revision, outside of an agent: for previews and the command line. */
export async function renderRevision(input: RenderRevisionInput): Promise<RenderedRevision> {
  const revision: RenderedRevision = { plugins: [], faults: [], waits: [], nested: new Set() };
  const renderings: Rendering[] = [];
  const isMeant = (object: KubeObject) => input.touched?.has(keyOf(object)) ?? true;
  const wanted = input.compiled.levels.flat().filter(({ object }) => object.kind === 'Plugin' && isMeant(object));
  const standing = input.standing ?? asDeclared;
  const results = await settleAll(wanted, PARALLEL_PLUGINS, async (one) => {
    const live = input.live.get(keyOf(one.object));
    const found = await standing(one, live);
    return 'plugin' in found ? await renderCandidate(input, { plugin: found.plugin, live, parents: [] }) : found;
  });
  take(
    revision,
    wanted.map(({ object }) => keyOf(object)),
    results,
    renderings,
  );
  const nested = input.nested === undefined ? [] : await renderNested(input, renderings, revision);
  renderings.push(...nested);
  revision.plugins = renderings.map(({ plugin }) => plugin);
  const kinds = withDefinitions(input.kinds, revision.plugins);
  for (const { plugin, again } of renderings) {
    if ((plugin.rendered?.undecided.size ?? 0) > 0) plugin.rendered = await again?.(kinds);
  }
  return revision;
}

/** Sorts out what came of each: renderings, waits, faults. Without the cluster there is nothing to sort. */
export function take(
  revision: Pick<RenderedRevision, 'faults' | 'waits'>,
  keys: readonly string[],
  results: readonly PromiseSettledResult<Rendering | Exclude<Standing, { plugin: Plugin }>>[],
  renderings: Rendering[],
): void {
  results.forEach((result, index) => {
    const plugin = keys[index] ?? '';
    if (result.status === 'rejected') {
      if (isFatal(result.reason)) throw result.reason;
      revision.faults.push({ plugin, message: messageOf(result.reason) });
    } else if ('waits' in result.value) revision.waits.push({ plugin, for: result.value.waits });
    else if ('fault' in result.value) {
      const { fault: message, file } = result.value;
      revision.faults.push({ plugin, message, ...(file === undefined ? {} : { file }) });
    } else renderings.push(result.value);
  });
}

/** A kind that nobody serves yet may be defined by another Plugin of the revision. */
function withDefinitions(kinds: Kinds, plugins: readonly RevisionPlugin[]): Kinds {
  const scopes = definedScopes(plugins.flatMap(({ rendered }) => rendered?.objects ?? []));
  return {
    async resource(apiVersion, kind) {
      const scope = scopes.get(`${apiVersion} ${kind}`);
      if (scope === undefined) return await kinds.resource(apiVersion, kind);
      return { ...NAMELESS, apiVersion, kind, namespaced: scope === 'Namespaced' };
    },
  };
}

/** Without the cluster nothing can be said at all; anything else is a fault of one Plugin. */
export function isFatal(error: unknown): boolean {
  return isError(error, 'KubeUnreachable', 'KubeUnauthorized', 'KubeTimedOut', 'Aborted');
}

async function asDeclared({ object }: Wanted, live: Plugin | undefined): Promise<Standing> {
  return { plugin: readAs({ ...object, ...(live?.status === undefined ? {} : { status: live.status }) }, 'Plugin') };
}
