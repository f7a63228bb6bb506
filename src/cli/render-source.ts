import { API_VERSION, EspalierError, isError, type KubeObject, type Plugin, readAs, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { createReader } from '../declare/reader.ts';
import { createMasker } from '../plan/mask.ts';
import { compile } from '../reconcile/compile.ts';
import { type FindOwnSource, refuseOwnSource, withOwnSources } from '../reconcile/pulls/own-sources.ts';
import { type RevisionPlugin, renderRevision } from '../reconcile/render-revision.ts';
import { keyOf } from '../reconcile/store.ts';
import { describeFault } from '../reconcile/sync-status.ts';
import { catalogueFacts } from './catalogue.ts';
import { offlineKinds } from './offline-kinds.ts';
import { withHelm } from './own-charts.ts';
import { type SourceFlags, withTree } from './source-tree.ts';
import { findSync, standIn } from './sync-settings.ts';

export interface RenderFlags extends SourceFlags {
  sync?: string;
  path?: string;
  plugin?: string[];
  kubernetes?: string;
  cluster?: string;
  label?: Record<string, string>;
  showSecrets?: true;
  nested?: true;
}

export interface RenderSource {
  /** Undefined: without a cluster. */
  client: KubeClient | undefined;
  namespace: string;
  source: string;
  flags: RenderFlags;
}

export interface RenderedSource {
  plugins: { plugin: string; objects: readonly KubeObject[]; warnings: readonly string[] }[];
  /** What is not for this cluster, and why. */
  absent: string[];
  /** What could not be read or rendered. */
  faults: string[];
  /** Values of Secrets are not what they are. */
  masked: boolean;
}

/** The objects that the Plugins of a folder or a Git ref render to, on this cluster or, without one, on one as described. */
export async function renderSource({ client, namespace, source, flags }: RenderSource): Promise<RenderedSource> {
  const sync = await settings(client, namespace, source, flags);
  const withSources = <T>(use: (find: FindOwnSource) => Promise<T>): Promise<T> =>
    client === undefined ? use(refuseOwnSource('which is not looked at with --offline')) : withOwnSources(client, use);
  return await withTree(client, sync, source, flags, async (tree) => {
    const plugins = client === undefined ? [] : await pluginsIn(client);
    const kubernetes = flags.kubernetes ?? (client === undefined ? undefined : (await client.version()).gitVersion);
    const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
    const kinds = client ?? offlineKinds;
    const nested = flags.nested === true ? ({ nested: 'all' } as const) : {};
    const { compiled, revision } = await withSources((ownSource) =>
      withHelm(
        async (helm, charts) => {
          const catalogue = await catalogueFacts({ client, kubernetes, charts });
          const compiled = await compile({ sync, tree, reader: createReader(), plugins, catalogue });
          const input = { client, kinds, sync, tree, compiled, kubernetes, live, ownSource, helm, ...nested };
          return { compiled, revision: await renderRevision(input) };
        },
        { offline: client === undefined, kubernetes },
      ),
    );
    const names = namesIn(revision.plugins, [...revision.faults, ...revision.waits], compiled.plugins);
    for (const name of flags.plugin ?? []) if (!names.has(name)) throw unknownPlugin(name, names);
    const isMeant = (key: string) => flags.plugin?.includes(key.slice(key.indexOf('/') + 1)) ?? true;
    const chosen = revision.plugins.filter(({ key }) => isMeant(key));
    return {
      plugins: chosen.flatMap((one) => shown(one, flags.showSecrets === true)),
      absent: chosen.flatMap(({ key, whyNot }) => (whyNot === undefined ? [] : [`${key}: ${whyNot}`])),
      faults: [
        ...[...compiled.faults, ...compiled.misfits].map(describeFault),
        ...revision.faults
          .filter(({ plugin }) => isMeant(plugin))
          .map(({ plugin, message }) => `${plugin}: ${message}`),
        ...revision.waits.filter(({ plugin }) => isMeant(plugin)).map((one) => `${one.plugin}: waits for ${one.for}`),
      ],
      masked: flags.showSecrets !== true && chosen.some(holdsSecrets),
    };
  });
}

/** The Sync's, with what the command line says otherwise. A cluster without Espalier has none. */
export async function settings(
  client: KubeClient | undefined,
  namespace: string,
  source: string,
  flags: RenderFlags,
): Promise<Sync> {
  const found =
    client === undefined ? undefined : await unlessNotInstalled(findSync(client, namespace, flags.sync, source));
  const sync = found ?? standIn(namespace);
  if (flags.path !== undefined) sync.spec.repository.path = flags.path;
  if (flags.cluster !== undefined) sync.spec.cluster.name = flags.cluster;
  sync.spec.cluster.labels = { ...sync.spec.cluster.labels, ...flags.label };
  return sync;
}

export async function pluginsIn(client: KubeClient): Promise<Plugin[]> {
  const found = await unlessNotInstalled(client.list({ apiVersion: API_VERSION, kind: 'Plugin' }));
  return (found?.items ?? []).map((item) => readAs(item, 'Plugin'));
}

export async function unlessNotInstalled<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return undefined;
    throw error;
  }
}

function shown({ key, rendered, secrets }: RevisionPlugin, whole: boolean): RenderedSource['plugins'] {
  if (rendered === undefined) return [];
  const masker = createMasker({ values: secrets });
  const objects = whole ? rendered.objects : rendered.objects.map((object) => masker.mask(object));
  return [{ plugin: key, objects, warnings: rendered.warnings }];
}

function holdsSecrets({ rendered, secrets }: RevisionPlugin): boolean {
  return (
    secrets.length > 0 || (rendered?.objects ?? []).some(({ kind, data }) => kind === 'Secret' && data !== undefined)
  );
}

function namesIn(plugins: readonly RevisionPlugin[], others: readonly { plugin: string }[], keys: Iterable<string>) {
  const all = [...plugins.map(({ key }) => key), ...others.map(({ plugin }) => plugin), ...keys];
  return new Set(all.map((key) => key.slice(key.indexOf('/') + 1)));
}

export function unknownPlugin(name: string, known: ReadonlySet<string>): EspalierError {
  const listed = [...known].sort().slice(0, 20).join(', ');
  const message = `no Plugin "${name}" here; there are: ${listed === '' ? 'none' : listed}`;
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
