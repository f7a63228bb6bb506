import { EspalierError, type KubeObject, refKey, refOf } from '../api/index.ts';
import type { Chart } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import { hooksFor } from '../release/hooks.ts';
import { chartsIn, madeOfSame, sameObjects } from '../release/made-of.ts';
import type { Hook, HookEvent, Release } from '../release/record.ts';
import type { ClusterView, ReadPath } from '../render/cluster-view.ts';
import { withKinds } from '../render/discovery-with.ts';
import { type RenderedChart, renderChart } from '../render/helm.ts';
import { manifestOf, type Sourced } from '../render/helm-manifest.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { parseText } from '../render/parse-stream.ts';
import { REAL_TOOLS } from '../render/render.ts';
import { yamlText } from '../render/yaml.ts';
import { asAccount } from './account.ts';
import { definitionsIn, enabledDefinitions, hasDefinitions, recordedDefinitions } from './chart-definitions.ts';
import type { Facts } from './facts.ts';
import { type FinishInput, finishFor, finishHooks, placeRecorded, toRendered } from './finish-rendered.ts';
import type { KnownInputs } from './inputs.ts';
import { recordedHooks } from './recorded-hooks.ts';
import { listRecords, readRevision } from './release-records.ts';
import { adoptable, recordFor } from './release-state.ts';
import type { Rendered } from './rendered.ts';
import {
  chartImages,
  chartVersion,
  packDraft,
  type ReadyHook,
  releaseOf,
  withReleaseMarks,
} from './rendered-release.ts';
import { withPlaces } from './values-places.ts';

export interface RenderChartInput extends FinishInput {
  inputs: KnownInputs;
  /** For the records of the release, and for what templates look up. */
  cluster: KubeClient | undefined;
  /** What the cluster serves, where it shall be something else than the cluster says, or there is none to ask. */
  discovery?: ReadPath;
  view: ClusterView;
  /** Whose rights `lookup` has in place of those of the Plugin's account. `none` is refused everything. */
  lookups?: KubeClient | 'none';
  chart(): Promise<Chart>;
  timeoutMs: number;
  /** Reads a file of the repository that declares the Plugin, to tell where a value stands. */
  readOrigin?(file: string): Promise<Uint8Array | undefined>;
  signal?: AbortSignal;
}

interface Parts {
  objects: readonly Sourced[];
  definitions: readonly KubeObject[];
  hooks: readonly ReadyHook[];
  warnings: readonly string[];
}

const LONGEST_RELEASE_NAME = 53;

/**
 * A chart's objects. For kind helm they are those of a release: what a revision of ours holds is read from its record,
 * as it was applied, random values included; only what is new is rendered.
 */
export async function renderChartPlugin(input: RenderChartInput): Promise<Rendered> {
  const { plugin, facts, inputs } = input;
  if (plugin.spec.kind === 'template') return await renderPlain(input);
  const release = releaseOf(plugin);
  if (release.name.length > LONGEST_RELEASE_NAME) {
    const message = `a Helm release can't have a name of more than ${LONGEST_RELEASE_NAME} characters; rename Plugin ${release.name}`;
    throw new EspalierError('RenderRefused', message, { retry: false });
  }
  const client = input.cluster === undefined ? undefined : asAccount(input.cluster, facts.account);
  if (client === undefined) return await renderRevision(input, 1, await renderAnew(input, 1));
  const heads = await listRecords(client, release);
  const ours = recordFor(plugin, inputs.key, heads);
  const known = ours === undefined ? undefined : await readRevision(client, release, ours.revision);
  if (known !== undefined) return await fromRecord(input, known);
  const anew = await renderAnew(input, (heads.at(-1)?.revision ?? 0) + 1);
  const foreign = adoptable(plugin, heads);
  const standing = foreign === undefined ? undefined : await readRevision(client, release, foreign.revision);
  if (standing !== undefined && (await standsAsIs(input, standing, anew.rendered)))
    return await fromRecord(input, standing);
  return await renderRevision(input, (heads.at(-1)?.revision ?? 0) + 1, anew);
}

/** Whether a revision of somebody else's is made of just what is declared: then it is taken over as it is, random values included. */
async function standsAsIs(
  { plugin, facts, signal }: RenderChartInput,
  standing: Release,
  { draft, objects }: Pick<RenderedChart, 'draft' | 'objects'>,
): Promise<boolean> {
  const changesObjects = (plugin.spec.patches ?? []).length > 0 || facts.images.length > 0;
  if (changesObjects || !madeOfSame(standing, draft)) return false;
  const hasCharts = chartsIn(standing).length > 0 || objects.some(({ path }) => path.split('/')[1] === 'charts');
  if (!hasCharts) return true;
  const recorded = await parseText(
    standing.manifest,
    `revision ${standing.version} of release ${standing.name}`,
    signal,
  );
  const anew = objects.map(({ object }) => object);
  return sameObjects(recorded, anew);
}

/** A chart without a release: its objects are the Plugin's, like those of plain manifests. */
async function renderPlain(input: RenderChartInput): Promise<Rendered> {
  const { definitions, rendered } = await renderAnew(input, 1);
  const hooks = rendered.hooks.filter(({ hook }) => !hook.events.includes('test'));
  const objects = [...definitions, ...[...rendered.objects, ...hooks].map(({ object }) => object)];
  return {
    ...toRendered(input, await finishFor({ ...input, fileOf: filesOf(rendered.objects) }, objects), rendered.warnings),
    version: chartVersion(rendered.draft),
    ...chartImages(rendered.draft),
  };
}

async function renderRevision(
  input: RenderChartInput,
  revision: number,
  { definitions, rendered }: Awaited<ReturnType<typeof renderAnew>>,
): Promise<Rendered> {
  const placed = await finishHooks(
    input,
    rendered.hooks.map(({ object }) => object),
  );
  const hooks = rendered.hooks.map(({ hook, object: as }, index): ReadyHook => {
    const object = placed[index] as KubeObject; // one for each that was given
    return { hook: { ...hook, manifest: yamlText(asWritten(object, as)) } satisfies Hook, object };
  });
  const warnings = [...rendered.warnings, ...hooksTold(hooks, revision)];
  const { result, own } = await assemble(input, { ...rendered, warnings, hooks, definitions });
  const manifest = manifestOf(
    rendered.objects.map(({ object, path }, index) => ({ object: asWritten(own[index] ?? object, object), path })),
  );
  const draft = { ...rendered.draft, manifest };
  const release = {
    ...releaseOf(input.plugin),
    hooks,
    draft: packDraft(draft),
    fromRevision: undefined,
    asRevision: revision,
  };
  return { ...result, version: chartVersion(draft), ...chartImages(draft), release };
}

/** Hooks are no objects of the plan, but they run: who reads the plan should know. */
function hooksTold(hooks: readonly ReadyHook[], revision: number): string[] {
  const events: HookEvent[] = revision === 1 ? ['pre-install', 'post-install'] : ['pre-upgrade', 'post-upgrade'];
  return events.flatMap((event) => {
    const due = hooksFor(
      hooks.map(({ hook }) => hook),
      event,
    );
    return due.length === 0 ? [] : [`${event} hooks run: ${due.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`];
  });
}

/** As Helm records it: in the release's namespace without saying so. */
function asWritten(finished: KubeObject, rendered: KubeObject): KubeObject {
  const { namespace, ...metadata } = finished.metadata;
  const isImplied = namespace !== undefined && (rendered.metadata.namespace ?? '') === '';
  return isImplied ? { ...finished, metadata } : finished;
}

/** What a revision of ours declared, from its record: nothing is patched or rewritten a second time. */
async function fromRecord(input: RenderChartInput, record: Release): Promise<Rendered> {
  const title = `revision ${record.version} of release ${record.name}`;
  const objects = (await parseText(record.manifest, title, input.signal)).map((object) => ({ object, path: '' }));
  const { plugin, facts } = input;
  const unpatched = { ...plugin, spec: { ...plugin.spec, patches: [] } };
  const recorded = { ...input, plugin: unpatched, facts: { ...facts, images: [] }, rules: facts };
  const hooks = await placeRecorded(input.client, record, await recordedHooks(record, input.signal));
  const definitions = hasDefinitions(plugin) ? await recordedDefinitions(plugin, await input.chart(), record) : [];
  const { result } = await assemble(recorded, { objects, hooks, definitions, warnings: [] });
  const { chart, config, manifest, info } = record;
  const draft = {
    chart,
    ...(config === undefined ? {} : { config }),
    manifest,
    ...(info.notes === undefined ? {} : { notes: info.notes }),
  };
  const release = {
    ...releaseOf(plugin),
    hooks,
    draft: packDraft(draft),
    fromRevision: record.version,
    asRevision: record.version,
  };
  return { ...result, version: chartVersion(draft), ...chartImages(draft), release };
}

async function renderAnew(input: RenderChartInput, revision: number) {
  const { plugin, facts, inputs, cluster, signal } = input;
  const chart = await input.chart();
  if (chart.type === 'library') {
    const message = `chart ${chart.name} is a library for other charts and can't be installed`;
    throw new EspalierError('RenderRefused', message, { retry: false });
  }
  const found = await definitionsIn(plugin, chart);
  const rendering = renderChart(
    {
      release: { ...releaseOf(plugin), revision },
      archive: chart.archive,
      title: `chart ${chart.name} ${chart.version}`,
      values: inputs.values,
      secrets: inputs.secrets,
      view: input.view,
      discovery: withKinds(
        input.discovery ?? (cluster === undefined ? nothingServed : readerOf(cluster)),
        found.map(({ object }) => object),
      ),
      objects: cluster !== undefined && chart.usesLookup ? lookupsOf(input, cluster, facts) : undefined,
      limits: { ...DEFAULT_RENDER_LIMITS, timeoutMs: input.timeoutMs },
      signal,
    },
    REAL_TOOLS,
  );
  const rendered = await rendering.catch(async (error: unknown) => {
    throw await withPlaces(error, plugin, input.readOrigin);
  });
  return { definitions: enabledDefinitions(found, chart, rendered.draft.chart), rendered };
}

/** The namespace that is asked for comes first, then definitions, then what belongs to the release and says so. */
async function assemble(
  input: RenderChartInput & { rules?: Facts },
  { objects, definitions, hooks, warnings }: Parts,
): Promise<{ result: Rendered; own: KubeObject[] }> {
  const release = releaseOf(input.plugin);
  const all = [...definitions, ...objects.map(({ object }) => object)];
  const finished = await finishFor({ ...input, fileOf: filesOf(objects) }, all);
  const before = finished.objects.slice(0, finished.objects.length - objects.length);
  const own = finished.objects.slice(before.length);
  const marked = [...before, ...own.map((object) => withReleaseMarks(object, release))];
  const result = toRendered(
    { plugin: input.plugin, facts: input.rules ?? input.facts },
    { ...finished, objects: marked },
    warnings,
    hooks.map(({ object }) => object),
  );
  const keys = before.map((object) => refKey(refOf(object))).filter((at) => !finished.ensure.has(at));
  const bytes = result.bytes + hooks.reduce((sum, { hook }) => sum + hook.manifest.length, 0);
  return { result: { ...result, bytes, definitions: new Set(keys) }, own };
}

function filesOf(objects: readonly Sourced[]): (object: KubeObject) => string | undefined {
  const files = new Map(objects.map(({ object, path }) => [object, path]));
  return (object) => files.get(object);
}

function lookupsOf({ lookups }: RenderChartInput, cluster: KubeClient, { account }: Facts): ReadPath {
  if (lookups === 'none') return forbidden;
  return readerOf(lookups ?? asAccount(cluster, account));
}

const FORBIDDEN = {
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'Forbidden',
  code: 403,
  message: 'forbidden: a pull request from another repository may not look at the cluster',
};
const forbidden: ReadPath = async () => ({ status: 403, body: JSON.stringify(FORBIDDEN) });
const nothingServed: ReadPath = async () => ({ status: 404, body: '{}' });

/** Reads the API server as it answers, for whatever rights the client has. */
export function readerOf(client: KubeClient): ReadPath {
  return async (path, accept) => {
    const url = new URL(path, 'http://view');
    const query = Object.fromEntries(url.searchParams);
    const { status, body } = await client.raw({ method: 'GET', path: url.pathname, query, headers: { accept } });
    return { status, body };
  };
}
