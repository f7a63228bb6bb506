import { stat } from 'node:fs/promises';
import { API_VERSION, EspalierError, type Plugin, readAs, refOf, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { createReader } from '../declare/reader.ts';
import { folderTree } from '../git/foldertree.ts';
import type { RefSpec } from '../git/ref.ts';
import type { FileTree } from '../git/tree.ts';
import type { Plan } from '../plan/whole.ts';
import { type Compiled, compile } from '../reconcile/compile.ts';
import { baseOf, type History, historySince } from '../reconcile/history.ts';
import { agentIdentity } from '../reconcile/identity.ts';
import { previewRevision } from '../reconcile/preview.ts';
import { renderTree } from '../reconcile/render.ts';
import { withRepository } from './repository.ts';

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
  const found = await findSync(client, namespace, flags.sync);
  const sync = found ?? standIn(namespace);
  if (found === undefined)
    progress(`no Sync in namespace ${namespace}: planning without values, labels and account of one`);
  if (flags.path !== undefined) sync.spec.repository.path = flags.path;
  return await withTree(client, sync, source, flags, async (tree, history) => {
    const plugins = (await client.list({ apiVersion: API_VERSION, kind: 'Plugin' })).items.map((item) =>
      readAs(item, 'Plugin'),
    );
    const compiled: Compiled = await compile({ sync, tree, reader: createReader(), plugins });
    const { gitVersion } = await client.version();
    const names = flags.plugin === undefined ? undefined : new Set(flags.plugin);
    if (names !== undefined) mustExist(names, compiled, plugins);
    return await previewRevision({
      client,
      sync,
      compiled,
      plugins,
      kubernetes: gitVersion,
      history,
      isAgent: agentIdentity(namespace),
      render: (plugin, facts, inputs) =>
        renderTree({ client, tree, plugin, facts, values: inputs.values, secrets: inputs.secrets }),
      ...(names === undefined ? {} : { only: (key: string) => names.has(key.slice(key.indexOf('/') + 1)) }),
    });
  });
}

async function withTree<T>(
  client: KubeClient,
  sync: Sync,
  source: string,
  flags: PlanFlags,
  use: (tree: FileTree, history: History) => Promise<T>,
): Promise<T> {
  if (!isUrl(source)) {
    const found = await stat(source).catch(() => undefined);
    if (found?.isDirectory() !== true) {
      throw new EspalierError('InvalidConfiguration', `"${source}" is neither a folder nor a Git URL`, {
        retry: false,
      });
    }
    return await use(folderTree(source), 'forward');
  }
  return await withRepository(client, sync, source, async (repository) => {
    const { commit, ref } = await repository.resolve(
      flags.ref === undefined ? (sync.spec.repository.ref ?? {}) : refSpec(flags.ref),
    );
    await repository.fetch(commit, ref);
    return await use(repository.tree(commit), await historySince(repository, baseOf(sync), commit));
  });
}

export function isUrl(source: string): boolean {
  return /^[a-z+]+:\/\//.test(source) || /^[^/\s]+@[^/\s]+:/.test(source);
}

/** A whole object id is a commit, `refs/tags/…` a tag, anything else a branch. */
export function refSpec(text: string): RefSpec {
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text)) return { commit: text };
  if (text.startsWith('refs/tags/')) return { tag: text.slice('refs/tags/'.length) };
  return { branch: text.replace(/^refs\/heads\//, '') };
}

async function findSync(client: KubeClient, namespace: string, name: string | undefined): Promise<Sync | undefined> {
  const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Sync', namespace });
  const syncs = items.map((item) => readAs(item, 'Sync'));
  const listed = syncs.map((sync) => sync.metadata.name).join(', ');
  if (name !== undefined) {
    const sync = syncs.find((one) => one.metadata.name === name);
    if (sync === undefined)
      throw new EspalierError(
        'KubeNotFound',
        `no Sync "${name}" in namespace ${namespace}${listed === '' ? '' : `; there are: ${listed}`}`,
        { retry: false },
      );
    return sync;
  }
  if (syncs.length > 1)
    throw new EspalierError(
      'InvalidConfiguration',
      `namespace ${namespace} has several Syncs: choose one with --sync (${listed})`,
      { retry: false },
    );
  return syncs[0];
}

function standIn(namespace: string): Sync {
  return readAs(
    {
      apiVersion: API_VERSION,
      kind: 'Sync',
      metadata: { name: 'plan', namespace },
      spec: { repository: { url: 'https://example.com/none.git' } },
    },
    'Sync',
  );
}

function mustExist(names: ReadonlySet<string>, compiled: Compiled, plugins: readonly Plugin[]): void {
  const known = new Set([
    ...[...compiled.plugins].map((key) => key.slice(key.indexOf('/') + 1)),
    ...plugins.map((plugin) => refOf(plugin).name),
  ]);
  for (const name of names) {
    if (!known.has(name))
      throw new EspalierError(
        'InvalidConfiguration',
        `no Plugin "${name}" here; there are: ${[...known].sort().slice(0, 20).join(', ')}`,
        { retry: false },
      );
  }
}
