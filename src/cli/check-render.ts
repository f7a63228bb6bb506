import { isError, type KubeObject, messageOf, type Plugin, refKey, refOf, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { FileTree } from '../git/tree.ts';
import { type FindOwnSource, refuseOwnSource, withOwnSources } from '../reconcile/pulls/own-sources.ts';
import { type RenderedRevision, type RenderRevisionInput, renderRevision } from '../reconcile/render-revision.ts';
import type { Kinds } from '../reconcile/scopes.ts';
import { keyOf } from '../reconcile/store.ts';
import type { KubernetesTarget } from '../resolve/served-apis.ts';
import { catalogueFacts } from './catalogue.ts';
import type { Finding } from './check-model.ts';
import { renderedFindings, renderFault } from './check-plugin.ts';
import { discoveryFor } from './discovery-for.ts';
import { offlineKinds } from './offline-kinds.ts';
import { withHelm } from './own-charts.ts';

/** What rendering for another release takes, open for as long as a check needs it. */
export interface ForRelease extends Pick<RenderRevisionInput, 'client' | 'helm' | 'ownSource'> {
  to: KubernetesTarget;
  /** As it counts for that release. */
  catalogue: Awaited<ReturnType<typeof catalogueFacts>>;
}

/** What a Plugin renders to for the release. */
export interface RenderedPlugin {
  findings: Finding[];
  version?: string | undefined;
}

export interface PluginsToRender {
  sync: Sync;
  tree: FileTree;
  plugins: readonly Plugin[];
  /** Plugins whose sources and credentials may be used, by key. */
  live: ReadonlyMap<string, Plugin>;
}

/** `client` undefined: without a cluster. */
export async function forRelease<T>(
  client: KubeClient | undefined,
  to: KubernetesTarget,
  use: (means: ForRelease) => Promise<T>,
): Promise<T> {
  const discovery = await discoveryFor(client, to);
  return await withSources(client, (ownSource) =>
    withHelm(
      async (helm, charts) => {
        const catalogue = await catalogueFacts({ client, kubernetes: to.gitVersion, charts });
        return await use({ client, to, ownSource, catalogue, helm: { ...helm, discovery } });
      },
      { offline: client === undefined },
    ),
  );
}

/** What is wrong with Plugins as they render for the release, by key. */
export async function checkRendering(
  { client, to, ownSource, helm }: ForRelease,
  { sync, tree, plugins, live }: PluginsToRender,
): Promise<Map<string, RenderedPlugin>> {
  const levels = [plugins.map((plugin) => ({ key: refKey(refOf(plugin)), object: plugin as KubeObject, inputs: '' }))];
  const revision = await renderRevision({
    ...{ client, kinds: kindsOf(client), sync, tree, compiled: { levels }, kubernetes: to.gitVersion },
    ...{ live, ownSource, helm },
  });
  return findingsOf(revision, to);
}

function findingsOf({ plugins, faults, waits }: RenderedRevision, to: KubernetesTarget): Map<string, RenderedPlugin> {
  const found = new Map<string, RenderedPlugin>();
  for (const { key, rendered } of plugins)
    if (rendered !== undefined)
      found.set(key, { findings: renderedFindings(rendered, to.minor), version: rendered.version.version });
  for (const { plugin, message } of faults) found.set(plugin, { findings: [renderFault(message)] });
  for (const { plugin, for: what } of waits) {
    const message = `could not be rendered yet: it waits for ${what}`;
    found.set(plugin, { findings: [{ code: 'NotLookedAt', message }] });
  }
  return found;
}

/** The same answer for all of them: what they are made of can't be read. */
export function notReadable(plugins: readonly Plugin[], error: unknown): Map<string, RenderedPlugin> {
  return new Map(plugins.map((plugin) => [keyOf(plugin), { findings: [renderFault(messageOf(error))] }]));
}

function withSources<T>(client: KubeClient | undefined, use: (find: FindOwnSource) => Promise<T>): Promise<T> {
  if (client === undefined) return use(refuseOwnSource('which is not looked at with --offline'));
  return withOwnSources(client, use);
}

/** A version that the cluster of today does not serve any more, or not yet, is one of Kubernetes' own all the same. */
function kindsOf(client: KubeClient | undefined): Kinds {
  if (client === undefined) return offlineKinds;
  return {
    async resource(apiVersion, kind) {
      try {
        return await client.resource(apiVersion, kind);
      } catch (error) {
        if (!isError(error, 'KubeKindUnknown')) throw error;
        return await offlineKinds.resource(apiVersion, kind);
      }
    },
  };
}
