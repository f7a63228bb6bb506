import { API_VERSION, type KubeObject, readAs, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { createReader } from '../declare/reader.ts';
import type { FileTree } from '../git/tree.ts';
import type { Plan } from '../plan/whole.ts';
import { type Compiled, compile } from '../reconcile/compile.ts';
import type { History } from '../reconcile/history.ts';
import { agentIdentity } from '../reconcile/identity.ts';
import { previewRevision } from '../reconcile/preview.ts';
import { type FindOwnSource, withOwnSources } from '../reconcile/pulls/own-sources.ts';
import { catalogueFacts } from './catalogue.ts';
import { withHelm } from './own-charts.ts';
import { unknownPlugin } from './render-source.ts';
import { withTree } from './source-tree.ts';
import { findSync, standIn } from './sync-settings.ts';

/** Where the agent usually lives. Nobody tells a command line where it does. */
const AGENT_NAMESPACE = 'espalier-system';

export interface PlanFlags {
  sync?: string;
  ref?: string;
  path?: string;
  plugin?: string[];
}

export interface PlanSource {
  client: KubeClient;
  namespace: string;
  source: string;
  flags: PlanFlags;
  progress(text: string): void;
}

/** Plans a folder or a Git ref against a live cluster, with the settings of the Sync that follows it. */
export async function planSource({ client, namespace, source, flags, progress }: PlanSource): Promise<Plan> {
  const found = await findSync(client, namespace, flags.sync, source);
  const sync = found ?? standIn(namespace);
  if (found === undefined)
    progress(`no Sync in namespace ${namespace}: planning without values, labels and account of one`);
  if (sync.spec.suspend)
    progress(`sync/${sync.metadata.name} is suspended: until it is resumed, nothing of this would happen`);
  if (flags.path !== undefined) sync.spec.repository.path = flags.path;
  return await withTree(client, sync, source, flags, (tree, history) =>
    planTree({ client, namespace, sync, tree, history, names: flags.plugin }),
  );
}

export interface PlanTree {
  client: KubeClient;
  namespace: string;
  sync: Sync;
  tree: FileTree;
  history: History;
  /** Of Plugins; all when left out. */
  names?: readonly string[] | undefined;
  /** What the tree says of sources is from the cluster itself. */
  trusted?: boolean;
}

type HelmParts = Parameters<Parameters<typeof withHelm>[0]>;

/** Plans the files of a tree, wherever they are, against a live cluster. */
export async function planTree(input: PlanTree): Promise<Plan> {
  const { client, namespace, sync, tree, history, names: given, trusted = false } = input;
  const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin' });
  const plugins = items.map((item) => readAs(item, 'Plugin'));
  const { gitVersion: kubernetes } = await client.version();
  const names = given === undefined ? undefined : new Set(given);
  const withParts = <T>(use: (ownSource: FindOwnSource, ...helm: HelmParts) => Promise<T>): Promise<T> =>
    withOwnSources(client, (find) => withHelm((...helm) => use(find, ...helm), { trusted }), { trusted });
  const { plan } = await withParts(async (ownSource, helm, charts) => {
    const catalogue = await catalogueFacts({ client, kubernetes, charts });
    const compiled: Compiled = await compile({ sync, tree, reader: createReader(), plugins, catalogue });
    if (names !== undefined) mustExist(names, compiled, sync);
    return await previewRevision({
      ...{ client, sync, tree, compiled, plugins, kubernetes, history, ownSource, helm },
      isAgent: agentsOf(namespace),
      ...(names === undefined ? {} : { only: (key: string) => names.has(key.slice(key.indexOf('/') + 1)) }),
    });
  });
  return plan;
}

/** What may be a part of the agent: it never removes itself. */
export function agentsOf(namespace: string): (object: KubeObject) => boolean {
  const agents = [namespace, AGENT_NAMESPACE].map(agentIdentity);
  return (object) => agents.some((isPart) => isPart(object));
}

/** Those that the source declares, and those that it no longer does. */
export function mustExist(names: ReadonlySet<string>, compiled: Compiled, sync: Sync): void {
  const removed = (sync.status?.inventory ?? []).filter(({ kind }) => kind === 'Plugin').map(({ name }) => name);
  const known = new Set([...[...compiled.plugins].map((key) => key.slice(key.indexOf('/') + 1)), ...removed]);
  for (const name of names) if (!known.has(name)) throw unknownPlugin(name, known);
}
