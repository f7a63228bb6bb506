import { EspalierError, type JsonObject, type Plugin, parseDuration, refKey, refOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { FileTree } from '../git/tree.ts';
import { withFoldedData } from '../plan/secret-forms.ts';
import { finishObjects } from '../render/finish.ts';
import { renderPlugin } from '../render/render.ts';
import { contentKey } from '../resolve/key.ts';
import type { Clock } from '../runtime/clock.ts';
import { createLimit } from '../runtime/limit.ts';
import type { Facts } from './facts.ts';
import type { Metrics } from './metrics.ts';
import { hasOwnSource, type OwnSources } from './own-sources.ts';
import type { Parts } from './parts.ts';
import { RecentTrees } from './recent-trees.ts';
import type { Rendered } from './rendered.ts';
import { type Kinds, scopesOf } from './scopes.ts';
import type { Sources } from './sources.ts';

/** Whatever a Plugin asks for: nobody waits longer, and timers of Node have an end too. */
const LONGEST_RENDERING_MS = 60 * 60_000;

export interface RendererOptions {
  client: KubeClient;
  sources: Sources;
  ownSources: OwnSources;
  metrics: Metrics;
  clock: Clock;
  /** Renderings at once: each may start a child process. */
  parallel: number;
}

/** The agent's renderer: finds the tree that a Plugin is made of, and renders it, few at a time. */
export function createRenderer(options: RendererOptions): Parts['render'] {
  const { client, metrics, clock, parallel } = options;
  const limit = createLimit({ limit: parallel, clock });
  const trees = new RecentTrees(clock);
  return (plugin, facts, { values, secrets }, signal) =>
    limit(async () => {
      const started = clock.now();
      const tree = await treeOf(options, trees, plugin, facts);
      const rendered = await renderTree({ client, tree, plugin, facts, values, secrets, signal });
      metrics.rendered(plugin.spec.kind, (clock.now() - started) / 1000);
      return rendered;
    });
}

export interface RenderTreeInput {
  /** Tells which kinds live in namespaces. */
  client: Kinds;
  tree: FileTree;
  plugin: Plugin;
  facts: Facts;
  values: JsonObject;
  secrets: readonly string[];
  signal?: AbortSignal;
}

/** From a tree to finished objects: the one way, for the agent and for `espalier plan` and `render`. */
export async function renderTree({
  client,
  tree,
  plugin,
  facts,
  values,
  secrets,
  signal,
}: RenderTreeInput): Promise<Rendered> {
  const { git } = plugin.spec.source;
  if (git === undefined) {
    throw new EspalierError(
      'RenderRefused',
      `kind ${plugin.spec.kind} from a chart repository or registry is not part of this version; use a folder in Git (source.git)`,
      { retry: false },
    );
  }
  const namespace = plugin.spec.namespace?.name ?? plugin.metadata.namespace ?? '';
  const { objects, warnings } = await renderPlugin({
    plugin,
    tree,
    path: git.path,
    values,
    secrets,
    facts: facts.kubernetes === undefined ? {} : { kubernetesVersion: facts.kubernetes },
    limits: { timeoutMs: Math.min(parseDuration(plugin.spec.timeout), LONGEST_RENDERING_MS) },
    ...(signal === undefined ? {} : { signal }),
  });
  const scopes = await scopesOf(client, objects);
  const finished = finishObjects(objects, {
    plugin,
    targetNamespace: namespace,
    createNamespace: plugin.spec.namespace?.create ?? false,
    patches: plugin.spec.patches ?? [],
    images: { rewrite: facts.images, report: facts.reportImages },
    scopeOf: (object) => scopes.get(`${object.apiVersion} ${object.kind}`) ?? 'unknown',
  });
  // `stringData` is written into `data` by the API server, which then says that nobody owns it: drift would go unseen.
  const sent = finished.objects.map(withFoldedData);
  const hashes = new Map(sent.map((object) => [refKey(refOf(object)), contentKey({ object }).slice(0, 20)]));
  const bytes = sent.reduce((sum, object) => sum + JSON.stringify(object).length, 0);
  return {
    objects: sent,
    hashes,
    warnings: [...warnings, ...finished.warnings],
    ensure: finished.ensure,
    version: {},
    bytes,
    undecided: new Map(
      finished.undecided.map((object) => [refKey(refOf(object)), refKey({ ...refOf(object), namespace })]),
    ),
  };
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
  if (facts.sync === undefined || git === undefined) {
    throw new EspalierError(
      'SourceMissing',
      'source.git without url is a folder of the repository of a Sync, and no Sync wrote this Plugin; set source.git.url',
      { retry: false },
    );
  }
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
