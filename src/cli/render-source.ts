import { API_VERSION, EspalierError, isError, type KubeObject, type Plugin, readAs, type Sync } from '../api/index.ts';
import type { Chart } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import { createReader } from '../declare/reader.ts';
import type { FileTree } from '../git/tree.ts';
import { createMasker } from '../plan/mask.ts';
import { type Compiled, compile } from '../reconcile/compile.ts';
import { type FindOwnSource, refuseOwnSource, withOwnSources } from '../reconcile/pulls/own-sources.ts';
import { findChart } from '../reconcile/render-candidate.ts';
import {
  type RenderedRevision,
  type RenderRevisionInput,
  type RevisionPlugin,
  renderRevision,
} from '../reconcile/render-revision.ts';
import { keyOf } from '../reconcile/store.ts';
import { describeFault } from '../reconcile/sync-status.ts';
import { type CatalogueOptions, catalogueFacts } from './catalogue.ts';
import { offlineKinds } from './offline-kinds.ts';
import { type ChartReach, withHelm } from './own-charts.ts';
import { readSettings } from './settings-file.ts';
import { type SourceFlags, withTree } from './source-tree.ts';
import { findSync, standIn } from './sync-settings.ts';

export interface RenderFlags extends SourceFlags {
  sync?: string;
  /** A file with a Sync in it, in place of one of the cluster. */
  settings?: string;
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
  /** Undefined: the repository that the Sync follows. */
  source: string | undefined;
  flags: RenderFlags;
  /** Also without a cluster, charts may come from repositories and registries. */
  charts?: ChartReach;
  /** Ends the fetching and rendering of it. */
  signal?: AbortSignal | undefined;
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
export async function renderSource(input: RenderSource): Promise<RenderedSource> {
  const { flags } = input;
  return await withRenderer(input, async ({ sync, render }) => {
    const { plugins, absent, faults } = await render(sync);
    return {
      plugins: plugins.flatMap((one) => shown(one, sync, flags.showSecrets === true)),
      absent,
      faults,
      masked: flags.showSecrets !== true && plugins.some(holdsSecrets),
    };
  });
}

/** What a source renders to with the settings of one Sync. */
export interface SourceRevision extends Pick<RenderedSource, 'absent' | 'faults'> {
  /** Those that are asked for. */
  plugins: RevisionPlugin[];
}

export interface SourceRenderer {
  /** The Sync whose settings apply, with what the command line says otherwise. */
  sync: Sync;
  render(sync: Sync): Promise<SourceRevision>;
  /** The chart of a Plugin, as it was rendered; for OCI `id` is the digest of its manifest. */
  chartOf(plugin: Plugin): Promise<{ id: string; fetch(): Promise<Chart> }>;
}

type Render = (
  helm: RenderRevisionInput['helm'],
  charts: CatalogueOptions['charts'],
  ownSource: FindOwnSource,
) => SourceRenderer['render'];

/** Opens a source, and whatever its charts need, for as many renderings of it as are wanted. */
export async function withRenderer<T>(
  { client, namespace, source, flags, charts: reach, signal }: RenderSource,
  use: (renderer: SourceRenderer) => Promise<T>,
): Promise<T> {
  const sync = await settings(client, namespace, source ?? '', flags);
  const from = source ?? sync.spec.repository.url;
  const withSources = <R>(run: (find: FindOwnSource) => Promise<R>): Promise<R> =>
    client === undefined ? run(refuseOwnSource('which is not looked at with --offline')) : withOwnSources(client, run);
  const open = async (tree: FileTree): Promise<T> => {
    const plugins = client === undefined ? [] : await pluginsIn(client);
    const kubernetes = flags.kubernetes ?? (client === undefined ? undefined : (await client.version()).gitVersion);
    const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
    const kinds = client ?? offlineKinds;
    const nested = flags.nested === true ? ({ nested: 'all' } as const) : {};
    const stop = signal === undefined ? {} : { signal };
    const render: Render = (helm, charts, ownSource) => async (settings) => {
      const catalogue = await catalogueFacts({ client, kubernetes, charts });
      const compiled = await compile({ sync: settings, tree, reader: createReader(), plugins, catalogue });
      const revision = await renderRevision({
        ...{ client, kinds, sync: settings, tree, compiled, kubernetes, live, ownSource, helm, ...nested, ...stop },
      });
      signal?.throwIfAborted();
      return chosenOf(compiled, revision, flags.plugin);
    };
    return await withSources((ownSource) =>
      withHelm(
        (helm, charts) =>
          use({
            sync,
            render: render(helm, charts, ownSource),
            chartOf: (plugin) => findChart({ client, helm }, plugin, live.get(keyOf(plugin))),
          }),
        { offline: client === undefined, kubernetes, ...(reach === undefined ? {} : { charts: reach }) },
      ),
    );
  };
  return await withTree(client, sync, from, flags, open, signal);
}

function chosenOf(compiled: Compiled, revision: RenderedRevision, only: readonly string[] | undefined): SourceRevision {
  const names = namesIn(revision.plugins, [...revision.faults, ...revision.waits], compiled.plugins);
  for (const name of only ?? []) if (!names.has(name)) throw unknownPlugin(name, names);
  const isMeant = (key: string) => only?.includes(key.slice(key.indexOf('/') + 1)) ?? true;
  const plugins = revision.plugins.filter(({ key }) => isMeant(key));
  return {
    plugins,
    absent: plugins.flatMap(({ key, whyNot }) => (whyNot === undefined ? [] : [`${key}: ${whyNot}`])),
    faults: [
      ...[...compiled.faults, ...compiled.misfits].map(describeFault),
      ...revision.faults.filter(({ plugin }) => isMeant(plugin)).map(({ plugin, message }) => `${plugin}: ${message}`),
      ...revision.waits.filter(({ plugin }) => isMeant(plugin)).map((one) => `${one.plugin}: waits for ${one.for}`),
    ],
  };
}

/** The Sync's, with what the command line says otherwise. A cluster without Espalier has none. */
export async function settings(
  client: KubeClient | undefined,
  namespace: string,
  source: string,
  flags: RenderFlags,
): Promise<Sync> {
  const written = flags.settings === undefined ? undefined : await readSettings(flags.settings);
  const found =
    written ??
    (client === undefined ? undefined : await unlessNotInstalled(findSync(client, namespace, flags.sync, source)));
  const sync = found ?? standIn(namespace);
  // In a file it may be left out.
  sync.metadata.namespace ||= namespace;
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

function shown({ key, rendered, secrets }: RevisionPlugin, sync: Sync, whole: boolean): RenderedSource['plugins'] {
  if (rendered === undefined) return [];
  const left = sync.spec.images.report ? rendered.imagesLeft : [];
  const masker = createMasker({ values: secrets });
  const objects = whole ? rendered.objects : rendered.objects.map((object) => masker.mask(object));
  const warnings = left.length === 0 ? [] : [`images that no rule leads elsewhere: ${left.join(', ')}`];
  return [{ plugin: key, objects, warnings: [...rendered.warnings, ...warnings] }];
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
