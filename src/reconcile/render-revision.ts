import {
  EspalierError,
  isError,
  type KubeObject,
  messageOf,
  type Plugin,
  readAs,
  refKey,
  type Sync,
} from '../api/index.ts';
import type { Chart, Charts } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import { settleAll } from '../converge/limit.ts';
import { parseValues } from '../declare/values-text.ts';
import type { FileTree } from '../git/tree.ts';
import { asAccount } from './account.ts';
import { activityIn } from './activity.ts';
import {
  chartRequest,
  chartSecretRefs,
  fetchFolder,
  hasChartSource,
  type SourceFolder,
  sourceHash,
} from './chart-sources.ts';
import type { Compiled } from './compile.ts';
import { type Facts, factsFrom } from './facts.ts';
import { withoutSecrets } from './hide-secrets.ts';
import { type InputsAnswer, inputsOf, valuesRefs } from './inputs.ts';
import { hasOwnSource } from './own-sources.ts';
import { listRecords } from './release-records.ts';
import { nextStep } from './release-state.ts';
import { chartFromTree, folderInGit, renderSource } from './render.ts';
import type { RenderChartInput } from './render-chart.ts';
import type { Rendered } from './rendered.ts';
import { foreign, lockedBy } from './run-release.ts';
import { definedScopes, type Kinds } from './scopes.ts';
import { secretData } from './secret-data.ts';
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
  compiled: Pick<Compiled, 'levels'>;
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
  /** Undefined where it is not for this cluster. */
  rendered: Rendered | undefined;
  whyNot?: string;
  /** Its inputs are not those that are applied. */
  isNew: boolean;
  /** What came from Secrets. */
  secrets: readonly string[];
  /** The commit that it is made from, where that is known. */
  commit: string | undefined;
}

/** What was rendered, and how to do it again knowing more kinds. */
type Rendering = { plugin: RevisionPlugin; again?: (kinds: Kinds) => Promise<Rendered> };

export interface RenderedRevision {
  plugins: RevisionPlugin[];
  faults: { plugin: string; message: string; file?: string }[];
  waits: { plugin: string; for: string }[];
}

const PARALLEL_PLUGINS = 4;
const NAMELESS = { plural: '', verbs: [], subresources: [], shortNames: [] };

/** Renders every Plugin of a revision, outside of an agent: for previews and the command line. */
export async function renderRevision(input: RenderRevisionInput): Promise<RenderedRevision> {
  const revision: RenderedRevision = { plugins: [], faults: [], waits: [] };
  const renderings: Rendering[] = [];
  const isMeant = (object: KubeObject) => input.touched?.has(keyOf(object)) ?? true;
  const wanted = input.compiled.levels.flat().filter(({ object }) => object.kind === 'Plugin' && isMeant(object));
  const standing = input.standing ?? asDeclared;
  const results = await settleAll(wanted, PARALLEL_PLUGINS, async (one) => {
    const live = input.live.get(keyOf(one.object));
    const found = await standing(one, live);
    return 'plugin' in found ? await renderOne(input, found.plugin, live) : found;
  });
  results.forEach((result, index) => {
    const object = wanted[index]?.object;
    if (object === undefined) return;
    const plugin = keyOf(object);
    if (result.status === 'rejected') {
      if (isFatal(result.reason)) throw result.reason;
      revision.faults.push({ plugin, message: messageOf(result.reason) });
    } else if ('waits' in result.value) revision.waits.push({ plugin, for: result.value.waits });
    else if ('fault' in result.value) {
      const { fault: message, file } = result.value;
      revision.faults.push({ plugin, message, ...(file === undefined ? {} : { file }) });
    } else renderings.push(result.value);
  });
  revision.plugins = renderings.map(({ plugin }) => plugin);
  const kinds = withDefinitions(input.kinds, revision.plugins);
  for (const { plugin, again } of renderings) {
    if ((plugin.rendered?.undecided.size ?? 0) > 0) plugin.rendered = await again?.(kinds);
  }
  return revision;
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
function isFatal(error: unknown): boolean {
  return isError(error, 'KubeUnreachable', 'KubeUnauthorized', 'KubeTimedOut', 'Aborted');
}

async function asDeclared({ object }: Wanted, live: Plugin | undefined): Promise<Standing> {
  return { plugin: readAs({ ...object, ...(live?.status === undefined ? {} : { status: live.status }) }, 'Plugin') };
}

async function renderOne(
  input: RenderRevisionInput,
  plugin: Plugin,
  live: Plugin | undefined,
): Promise<Rendering | { waits: string }> {
  const key = keyOf(plugin);
  const facts = factsFrom(plugin, input.sync, input.kubernetes);
  const activity = activityIn(plugin, facts);
  const isHere = { key, plugin, facts, isNew: false, secrets: [], commit: undefined };
  if (activity.state === 'inactive') return { plugin: { ...isHere, rendered: undefined, whyNot: activity.why } };
  if (activity.state === 'waiting') return { waits: activity.why };
  const own = hasOwnSource(plugin) ? await input.ownSource(plugin, live) : undefined;
  const chart = hasChartSource(plugin) ? await findChart(input, plugin, live) : undefined;
  if (input.isUntrusted === true) refuseValuesFrom(plugin);
  const inputs = await readInputs(input.client, plugin, facts, own?.id ?? chart?.id);
  if (inputs.state === 'waiting') return { waits: inputs.why };
  const { secrets } = inputs;
  const tree = own?.tree ?? input.tree;
  const helm = {
    ...input.helm,
    cluster: input.client,
    readOrigin: (file: string) => input.tree.read(file),
    chart: chart?.fetch ?? (() => chartFromTree(input.helm.chartsFor(plugin, live), tree, plugin, undefined)),
  };
  const again = async (kinds: Kinds): Promise<Rendered> => {
    const started = performance.now();
    try {
      return await renderSource({
        client: kinds,
        folder: chart?.folder ?? (async () => folderInGit(plugin, tree)),
        plugin,
        facts,
        inputs,
        helm,
        ...(input.signal === undefined ? {} : { signal: input.signal }),
      });
    } catch (error) {
      throw isFatal(error) ? error : withoutSecrets(error, secrets);
    } finally {
      input.onRendered?.(plugin.spec.kind, performance.now() - started);
    }
  };
  const isNew = plugin.status?.revision?.key !== inputs.key;
  const rendered = await again(input.kinds);
  const waits = isNew ? await releaseWait(input.client, { plugin, facts, key: inputs.key, rendered }) : undefined;
  if (waits !== undefined) return { waits };
  const commit = own?.commit ?? plugin.spec.source.git?.commit;
  return { plugin: { ...isHere, rendered, isNew, secrets, commit }, again };
}

function refuseValuesFrom(plugin: Plugin): void {
  const [ref] = valuesRefs(plugin);
  if (ref === undefined) return;
  const message = `it takes values from ${ref.kind} ${ref.name}, which a pull request from another repository is not given`;
  throw new EspalierError('RenderRefused', message, { retry: false });
}

async function readInputs(
  client: KubeClient | undefined,
  plugin: Plugin,
  facts: Facts,
  sourceId: string | undefined,
): Promise<InputsAnswer> {
  const found = new Map<string, Record<string, string> | 'absent'>();
  for (const ref of client === undefined ? [] : valuesRefs(plugin)) {
    const object = await client?.get(ref);
    found.set(refKey(ref), object === undefined ? 'absent' : secretData(object));
  }
  return inputsOf(plugin, facts, (ref) => found.get(refKey(ref)) ?? 'unknown', parseValues, sourceId);
}

/** Which chart or download the source means: what the agent has found, so that a plan says what the agent will do, else what is there now. */
export async function findChart(
  { client, helm }: Pick<RenderRevisionInput, 'client' | 'helm'>,
  plugin: Plugin,
  live: Plugin | undefined,
): Promise<{ id: string; fetch(): Promise<Chart>; folder(): Promise<SourceFolder> }> {
  const charts = helm.chartsFor(plugin, live);
  const data = new Map<string, Readonly<Record<string, string>>>();
  // A repository is hostile until proven: credentials go to a source that the Plugin in the cluster has already.
  const isKnown = live !== undefined && sourceHash(live) === sourceHash(plugin);
  for (const ref of client === undefined || !isKnown ? [] : chartSecretRefs(plugin)) {
    const secret = await client?.get(ref);
    if (secret !== undefined) data.set(refKey(ref), secretData(secret));
  }
  const request = chartRequest(plugin, (ref) => data.get(refKey(ref)));
  const found = live?.status?.resolved;
  const resolved = found?.source === sourceHash(plugin) ? found : await charts.resolve(request);
  return {
    id: resolved.id,
    fetch: () => charts.fetch(request, resolved),
    folder: () => fetchFolder(charts, request, resolved, undefined),
  };
}

/** What keeps a new revision of a release from being made: somebody else is at it. One that is somebody else's is a fault. */
async function releaseWait(
  client: KubeClient | undefined,
  { plugin, facts, key, rendered }: { plugin: Plugin; facts: Facts; key: string; rendered: Rendered },
): Promise<string | undefined> {
  if (client === undefined || rendered.release === undefined) return undefined;
  const step = nextStep(plugin, key, await listRecords(asAccount(client, facts.account), rendered.release));
  if (step.step === 'foreign') throw foreign(rendered.release, step.owner);
  return step.step === 'locked' ? lockedBy(rendered.release, step.head) : undefined;
}
