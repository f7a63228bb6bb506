import { EspalierError, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import type { Chart } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import { parseValues } from '../declare/values-text.ts';
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
import { type ExpansionSource, packageInGit, packageInRegistry } from './expansion-source.ts';
import { type Facts, factsFrom, whyRefused } from './facts.ts';
import { folderId, followsRepository } from './folders.ts';
import { withoutSecrets } from './hide-secrets.ts';
import { type InputsAnswer, inputsOf, type ReadData, valuesRefs } from './inputs.ts';
import { hasOwnSource } from './own-sources.ts';
import { listRecords } from './release-records.ts';
import { nextStep } from './release-state.ts';
import { chartFromTree, folderInGit, renderSource } from './render.ts';
import { isFatal, type OwnSource, type Rendering, type RenderRevisionInput } from './render-revision.ts';
import type { Rendered } from './rendered.ts';
import { foreign, lockedBy } from './run-release.ts';
import type { Kinds } from './scopes.ts';
import { secretData } from './secret-data.ts';
import { keyOf } from './store.ts';

export interface Candidate {
  plugin: Plugin;
  live: Plugin | undefined;
  /** What it is nested in, nearest first. */
  parents: readonly Plugin[];
  /** What is rendered beside it: values may come from there, and are then those of this revision. */
  beside?: readonly KubeObject[];
}

/** Renders one Plugin of a revision; a nested one at its current inputs only where all are asked for. */
export async function renderCandidate(
  input: RenderRevisionInput,
  { plugin, live, parents, beside = [] }: Candidate,
): Promise<Rendering | { waits: string }> {
  const key = keyOf(plugin);
  const refused = whyRefused(plugin, input.sync, parents);
  if (refused !== undefined) throw new EspalierError('RenderRefused', refused, { retry: false });
  const facts = factsFrom(plugin, input.sync, input.kubernetes, parents);
  const activity = activityIn(plugin, facts);
  const isHere = { key, plugin, facts, parents, isNew: false, secrets: [], commit: undefined };
  if (activity.state === 'inactive') return { plugin: { ...isHere, rendered: undefined, whyNot: activity.why } };
  if (activity.state === 'waiting') return { waits: activity.why };
  const own = hasOwnSource(plugin) ? await ownSource(input, plugin, live) : undefined;
  const chart = hasChartSource(plugin) ? await findChart(input, plugin, live) : undefined;
  if (input.isUntrusted === true) refuseValuesFrom(plugin);
  const inputs = await readInputs({ client: input.client, beside }, plugin, facts, own?.id ?? chart?.id);
  if (inputs.state === 'waiting') return { waits: inputs.why };
  const { secrets } = inputs;
  const isNew = plugin.status?.revision?.key !== inputs.key;
  if (!isNew && parents.length > 0 && input.nested !== 'all')
    return { plugin: { ...isHere, rendered: undefined, asBefore: true } };
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
        expansion: chart?.expansion ?? (() => packageInGit(plugin, tree)),
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
  const rendered = await again(input.kinds);
  const waits = isNew ? await releaseWait(input.client, { plugin, facts, key: inputs.key, rendered }) : undefined;
  if (waits !== undefined) return { waits };
  const commit = own?.commit ?? plugin.spec.source.git?.commit;
  return { plugin: { ...isHere, rendered, isNew, secrets, commit }, again };
}

/** A folder of the repository itself is that of the revision. */
async function ownSource(input: RenderRevisionInput, plugin: Plugin, live: Plugin | undefined): Promise<OwnSource> {
  if (!followsRepository(plugin)) return await input.ownSource(plugin, live);
  const id = await folderId(input.tree, plugin);
  if (id !== undefined) return { tree: input.tree, id, commit: input.tree.commit };
  const message = `source.git.path "${plugin.spec.source.git?.path ?? '.'}" does not exist at this revision`;
  throw new EspalierError('SourceMissing', message, { retry: false });
}

function refuseValuesFrom(plugin: Plugin): void {
  const [ref] = valuesRefs(plugin);
  if (ref === undefined) return;
  const message = `it takes values from ${ref.kind} ${ref.name}, which a pull request from another repository is not given`;
  throw new EspalierError('RenderRefused', message, { retry: false });
}

async function readInputs(
  { client, beside }: { client: KubeClient | undefined; beside: readonly KubeObject[] },
  plugin: Plugin,
  facts: Facts,
  sourceId: string | undefined,
): Promise<InputsAnswer> {
  const now = new Map<string, Record<string, string> | 'absent'>();
  const then = new Map<string, Record<string, string>>();
  for (const ref of valuesRefs(plugin)) {
    const at = refKey(ref);
    const declared = beside.find((one) => refKey(refOf(one)) === at);
    if (declared !== undefined) then.set(at, secretData(declared));
    if (client === undefined) continue;
    const object = await client.get(ref);
    now.set(at, object === undefined ? 'absent' : secretData(object));
  }
  const inputs = (read: ReadData): InputsAnswer => inputsOf(plugin, facts, read, parseValues, sourceId);
  const answer = inputs((ref) => then.get(refKey(ref)) ?? now.get(refKey(ref)) ?? 'unknown');
  if (then.size === 0 || answer.state !== 'known') return answer;
  // What is in the cluster still shows the secrets of now.
  const before = inputs((ref) => now.get(refKey(ref)) ?? 'unknown');
  return before.state === 'known' ? { ...answer, secrets: [...answer.secrets, ...before.secrets] } : answer;
}

/** What a source outside Git means, to be had as whatever the Plugin is. */
interface FoundSource {
  id: string;
  fetch(): Promise<Chart>;
  folder(): Promise<SourceFolder>;
  expansion(): Promise<ExpansionSource>;
}

/** Which chart or download the source means: what the agent has found, so that a plan says what the agent will do, else what is there now. */
export async function findChart(
  { client, helm }: Pick<RenderRevisionInput, 'client' | 'helm'>,
  plugin: Plugin,
  live: Plugin | undefined,
): Promise<FoundSource> {
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
    expansion: async () => packageInRegistry(plugin, await charts.artifact(request, resolved), resolved),
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
