import { EspalierError, type Plugin, parseDuration } from '../api/index.ts';
import type { Chart, ChartRequest, Charts } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { FileTree } from '../git/tree.ts';
import type { ClusterView } from '../render/cluster-view.ts';
import { renderPlugin } from '../render/render.ts';
import type { Clock } from '../runtime/clock.ts';
import { createLimit } from '../runtime/limit.ts';
import { demandAddonValues } from './addon-values.ts';
import { type ChartSources, hasChartSource, type SourceFolder } from './chart-sources.ts';
import { type ExpansionSource, packageInGit } from './expansion-source.ts';
import type { Facts } from './facts.ts';
import { type FinishInput, finishFor, toRendered } from './finish-rendered.ts';
import type { KnownInputs } from './inputs.ts';
import type { Metrics } from './metrics.ts';
import { hasOwnSource, type OwnSources } from './own-sources.ts';
import type { Parts } from './parts.ts';
import { RecentTrees } from './recent-trees.ts';
import { type RenderChartInput, renderChartPlugin } from './render-chart.ts';
import { renderExpansion } from './render-expansion.ts';
import type { Rendered } from './rendered.ts';
import type { Sources } from './sources.ts';

/** Whatever a Plugin asks for: nobody waits longer, and timers of Node have an end too. */
const LONGEST_RENDERING_MS = 60 * 60_000;

export interface RendererOptions {
  client: KubeClient;
  sources: Sources;
  ownSources: OwnSources;
  charts: Charts;
  chartSources: ChartSources;
  view: ClusterView;
  metrics: Metrics;
  clock: Clock;
  /** Renderings at once: each may start a child process. */
  parallel: number;
}

/** The agent's renderer: finds the tree that a Plugin is made of, and renders it, few at a time. */
export function createRenderer(options: RendererOptions): Parts['render'] {
  const { client, metrics, clock, parallel, charts, chartSources, view } = options;
  const limit = createLimit({ limit: parallel, clock });
  const trees = new RecentTrees(clock);
  return (plugin, facts, inputs, signal) =>
    limit(async () => {
      const started = clock.now();
      const tree = hasChartSource(plugin) ? undefined : await treeOf(options, trees, plugin, facts);
      const chart =
        tree === undefined
          ? () => chartSources.fetch(plugin, signal)
          : () => chartFromTree(charts, tree, plugin, signal);
      const folder = async () =>
        tree === undefined ? await chartSources.folder(plugin, signal) : folderInGit(plugin, tree);
      const expansion = async () =>
        tree === undefined ? await chartSources.package(plugin, signal) : await packageInGit(plugin, tree);
      const readOrigin = (file: string) => fileOfSync(options, trees, facts, file);
      const helm = { cluster: client, view, chart, readOrigin };
      const rendered = await renderSource({ client, folder, expansion, plugin, facts, inputs, signal, helm });
      metrics.rendered(plugin.spec.kind, (clock.now() - started) / 1000);
      return rendered;
    });
}

/** A folder or archive in Git as a chart: which one, its tree id says. */
export async function chartFromTree(
  charts: Charts,
  tree: FileTree,
  { spec }: Plugin,
  signal: AbortSignal | undefined,
): Promise<Chart> {
  const { path = '.', inside } = spec.source.git ?? {};
  const origin = { type: 'git', tree, path, ...(inside === undefined ? {} : { inside }) } as const;
  const request: ChartRequest = { origin };
  const options = signal === undefined ? {} : { signal };
  return await charts.fetch(request, await charts.resolve(request, options), signal);
}

export interface RenderSourceInput extends FinishInput {
  /** What manifests and kustomizations are made from. */
  folder(): Promise<SourceFolder>;
  /** What an expansion is made from. */
  expansion(): Promise<ExpansionSource>;
  inputs: KnownInputs;
  signal?: AbortSignal;
  /** What charts need: a cluster to look at, and the chart itself. */
  helm: Pick<RenderChartInput, 'cluster' | 'view' | 'chart' | 'discovery' | 'lookups' | 'readOrigin'>;
}

/** From a source to finished objects: the one way, for the agent and for `espalier plan` and `render`. */
export async function renderSource(input: RenderSourceInput): Promise<Rendered> {
  const { client, plugin, facts, inputs, signal, helm } = input;
  const timeoutMs = Math.min(parseDuration(plugin.spec.timeout), LONGEST_RENDERING_MS);
  const until = signal === undefined ? {} : { signal };
  if (plugin.spec.kind === 'helm' || plugin.spec.kind === 'template')
    return await renderChartPlugin({ client, plugin, facts, inputs, timeoutMs, ...helm, ...until });
  if (plugin.spec.kind === 'expansion')
    return await renderExpansion({
      ...{ client, plugin, facts, inputs, timeoutMs, source: await input.expansion() },
      ...until,
    });
  demandAddonValues(plugin, facts, inputs);
  const { tree, path, version } = await input.folder();
  const { objects, warnings } = await renderPlugin({
    plugin,
    tree,
    path,
    values: inputs.values,
    secrets: inputs.secrets,
    facts: facts.kubernetes === undefined ? {} : { kubernetesVersion: facts.kubernetes },
    limits: { timeoutMs },
    ...until,
  });
  const rendered = toRendered({ plugin, facts }, await finishFor({ client, plugin, facts }, objects), warnings);
  return version === undefined ? rendered : { ...rendered, version: { version } };
}

/** The folder of a tree that a Plugin's source names. */
export function folderInGit({ spec }: Plugin, tree: FileTree): SourceFolder {
  const path = spec.source.git?.path;
  if (path !== undefined) return { tree, path };
  const message = `kind ${spec.kind} needs a folder in Git or a download: set source.git or source.download`;
  throw new EspalierError('SourceMissing', message, { retry: false });
}

/** A file of the Sync's repository at the commit that is in force. */
async function fileOfSync(
  { sources }: RendererOptions,
  trees: RecentTrees,
  { sync }: Facts,
  file: string,
): Promise<Uint8Array | undefined> {
  const commit = sync?.status?.observed?.commit ?? sync?.status?.commit;
  const answer = sync === undefined ? undefined : await sources.forSync(sync);
  if (answer?.state !== 'open' || commit === undefined) return undefined;
  return await (await trees.at(answer.source.repository, commit)).read(file);
}

/** The files of the commit that last touched the Plugin; where that is no longer stored, of a commit that has the same folder. */
async function treeOf(
  { sources, ownSources }: RendererOptions,
  trees: RecentTrees,
  plugin: Plugin,
  facts: Facts,
): Promise<FileTree> {
  const { git } = plugin.spec.source;
  if (hasOwnSource(plugin)) return await ownSources.tree(plugin);
  if (facts.sync === undefined || git === undefined)
    throw new EspalierError('Internal', 'a Plugin of a Sync without that Sync, or without a folder');
  const answer = await sources.forSync(facts.sync);
  if (answer.state !== 'open')
    throw new EspalierError('GitAuthFailed', `cannot open the repository: it needs ${answer.why}`);
  const { repository } = answer.source;
  const commit = git.commit ?? facts.sync.status?.commit;
  if (commit === undefined) throw new EspalierError('SourceMissing', 'no commit is known yet to read the folder from');
  const head = facts.sync.status?.observed?.commit;
  if (head !== undefined && head !== commit && git.tree !== undefined) {
    const tree = repository.tree(head);
    if ((await tree.id(git.path).catch(() => undefined)) === git.tree) return tree;
  }
  return await trees.at(repository, commit);
}
