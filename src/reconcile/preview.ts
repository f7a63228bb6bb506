import {
  FIELD_MANAGER,
  isError,
  type KubeObject,
  messageOf,
  type ObjectRef,
  type Plugin,
  readAs,
  refKey,
  refOf,
  type Sync,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { conflictsOf } from '../converge/apply.ts';
import { readInventory } from '../converge/inventory.ts';
import { settleAll } from '../converge/limit.ts';
import { readLive } from '../converge/live.ts';
import { parseValues } from '../declare/values-text.ts';
import { withoutIgnored } from '../plan/ignore.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import { planObjects } from '../plan/plan.ts';
import type { Prediction } from '../plan/plan-input.ts';
import { type Plan, settleDuplicates } from '../plan/whole.ts';
import { activityOf } from '../resolve/when.ts';
import { asAccount } from './account.ts';
import type { Compiled } from './compile.ts';
import { contentsOf, namespaceUser } from './contents.ts';
import { type Facts, factsFrom } from './facts.ts';
import { baseOf, type History } from './history.ts';
import { holdFor } from './holds.ts';
import { type InputsAnswer, inputsOf, type KnownInputs, valuesRefs } from './inputs.ts';
import { rulesOf } from './look.ts';
import { removalHold } from './prune-revision.ts';
import { isDeclared } from './records.ts';
import type { Rendered } from './rendered.ts';
import { secretData } from './secret-data.ts';
import { keyOf } from './store.ts';

export interface PreviewInput {
  client: KubeClient;
  sync: Sync;
  compiled: Compiled;
  /** Every Plugin in the cluster. */
  plugins: readonly Plugin[];
  kubernetes: string;
  render(plugin: Plugin, facts: Facts, inputs: KnownInputs): Promise<Rendered>;
  history: History;
  isAgent(object: KubeObject): boolean;
  /** Which Plugins to plan; all when left out. */
  only?: (key: string) => boolean;
}

/** A Plugin of the revision with all that its plan needs. */
interface Candidate {
  key: string;
  plugin: Plugin;
  facts: Facts;
  /** Undefined where it is not for this cluster. */
  rendered: Rendered | undefined;
  isNew: boolean;
}

const PARALLEL_DRY_RUNS = 24;
const PARALLEL_PLUGINS = 4;

/**
 * What a revision would do to the cluster, without doing it: the same compiling, rendering and planning as in a real
 * run, with server-side dry runs in place of the writes.
 */
export async function previewRevision(input: PreviewInput): Promise<Plan> {
  const { sync, compiled, plugins } = input;
  const plan: Plan = { commit: { head: compiled.commit }, plugins: [], held: [], faults: [], waits: [], drift: [] };
  const base = sync.status?.commit;
  if (base !== undefined) plan.commit.base = base;
  if (sync.spec.cluster?.name !== undefined) plan.cluster = sync.spec.cluster.name;
  plan.faults = compiled.faults.map(({ file, line, column, message, object }) => ({
    file,
    message: object === undefined ? message : `${object}: ${message}`,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  }));
  const liveByKey = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const candidates = await collect(input, liveByKey, plan);
  const declared = declaredBy(candidates, liveByKey, compiled);
  const removed = removedPlugins(input, liveByKey);

  const planned = await settleAll(
    candidates.filter((one) => input.only?.(one.key) ?? true),
    PARALLEL_PLUGINS,
    (one) => planCandidate(input, one, declared, plan),
  );
  for (const result of planned) {
    if (result.status === 'rejected') throw result.reason;
    if (result.value !== undefined) plan.plugins.push(result.value);
  }
  for (const plugin of removed) {
    if (input.only?.(keyOf(plugin)) ?? true) plan.plugins.push(await planRemoval(input, plugin, declared));
  }
  plan.plugins = settleDuplicates(plan.plugins);
  const lost = removed.filter((plugin) => !isMoved(plugin, declared));
  const hold = removalHold(sync, compiled, lost.length, { base: baseOf(sync), history: input.history });
  if (hold.held) plan.held.push({ reason: hold.reason, howToApprove: hold.howToApprove });
  return plan;
}

async function collect(input: PreviewInput, liveByKey: ReadonlyMap<string, Plugin>, plan: Plan): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  const wanted = input.compiled.levels.flat().filter((one) => one.object.kind === 'Plugin');
  const results = await settleAll(wanted, PARALLEL_PLUGINS, async ({ object }) => {
    const key = keyOf(object);
    const live = liveByKey.get(key);
    const plugin = readAs({ ...object, ...(live?.status === undefined ? {} : { status: live.status }) }, 'Plugin');
    const facts = factsFrom(plugin, input.sync, input.kubernetes);
    const activity = activityOf(plugin.spec.when, {
      kubernetes: facts.kubernetes,
      labels: facts.labels,
      windowOpen: true,
    });
    if (!plugin.spec.enabled || activity.state === 'inactive')
      return { key, plugin, facts, rendered: undefined, isNew: false };
    const inputs = await readInputs(input.client, plugin, facts);
    if (inputs.state === 'waiting') {
      plan.waits.push({ plugin: key, for: inputs.why });
      return undefined;
    }
    const rendered = await input.render(plugin, facts, inputs);
    return { key, plugin, facts, rendered, isNew: plugin.status?.revision?.key !== inputs.key };
  });
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') {
      if (result.value !== undefined) candidates.push(result.value);
      return;
    }
    const object = wanted[index]?.object;
    if (isError(result.reason, 'KubeUnreachable', 'KubeUnauthorized', 'Aborted')) throw result.reason;
    plan.faults.push({ message: messageOf(result.reason), ...(object === undefined ? {} : { plugin: keyOf(object) }) });
  });
  return candidates;
}

async function readInputs(client: KubeClient, plugin: Plugin, facts: Facts): Promise<InputsAnswer> {
  const found = new Map<string, Record<string, string> | 'absent'>();
  for (const ref of valuesRefs(plugin)) {
    const object = await client.get(ref);
    found.set(refKey(ref), object === undefined ? 'absent' : secretData(object));
  }
  return inputsOf(plugin, facts, (ref) => found.get(refKey(ref)) ?? 'unknown', parseValues);
}

/** What every Plugin will declare once the revision is in force: rendered ones by their objects, others by their record. */
function declaredBy(
  candidates: readonly Candidate[],
  liveByKey: ReadonlyMap<string, Plugin>,
  compiled: Compiled,
): Map<string, ReadonlySet<string>> {
  const declared = new Map<string, ReadonlySet<string>>();
  for (const [key, plugin] of liveByKey) {
    const isOurs = plugin.metadata.labels?.['espalier.dev/sync'] !== undefined;
    if (isOurs && !compiled.plugins.has(key)) continue;
    declared.set(key, new Set((plugin.status?.inventory ?? []).filter(isDeclared).map(refKey)));
  }
  for (const { key, rendered } of candidates) declared.set(key, new Set(rendered?.hashes.keys() ?? []));
  return declared;
}

/** Renamed or split up: other Plugins of the revision declare all that it installed. */
function isMoved(plugin: Plugin, declared: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const inventory = plugin.status?.inventory ?? [];
  const others = [...declared].filter(([key]) => key !== keyOf(plugin)).map(([, objects]) => objects);
  return inventory.length > 0 && inventory.every((entry) => others.some((objects) => objects.has(refKey(entry))));
}

async function planCandidate(
  input: PreviewInput,
  one: Candidate,
  declared: ReadonlyMap<string, ReadonlySet<string>>,
  plan: Plan,
): Promise<PluginPlan | undefined> {
  const { plugin, facts, rendered, key } = one;
  if (rendered === undefined)
    return (plugin.status?.inventory ?? []).length === 0 ? undefined : await planRemoval(input, plugin, declared);
  const client = asAccount(input.client, facts.account);
  const record = readInventory(plugin.status?.inventory);
  const desired = [...rendered.objects];
  const refs = new Map<string, ObjectRef>([
    ...desired.map((object) => [refKey(refOf(object)), refOf(object)] as const),
    ...record,
  ]);
  const live = await readLive(client, [...refs.values()]);
  const dropped = [...record.values()].filter((entry) => !rendered.hashes.has(refKey(entry)));
  const contents = await contentsOf(client, plugin, dropped, live);
  const forms = desired.map(
    (object) =>
      withoutIgnored(object, live.get(refKey(refOf(object))), plugin.spec.drift.ignore ?? [], FIELD_MANAGER).object,
  );
  const result = planObjects({
    ...common(input, one.plugin, declared),
    desired: forms,
    live,
    predicted: await predict(client, plugin, forms),
    record: [...record.values()],
    revisionComplete: input.compiled.faults.length === 0 && facts.pruneEnabled,
    ensure: rendered.ensure,
    ...contents,
  });
  const hold = holdFor({
    plugin,
    facts,
    record,
    rendered,
    plan: result,
    isNew: one.isNew,
    commit: plugin.spec.source.git?.commit,
    head: input.compiled.commit,
  });
  if (hold?.phase === 'Held') plan.held.push({ plugin: key, reason: hold.message, howToApprove: '' });
  return { ...result, warnings: [...result.warnings, ...rendered.warnings] };
}

async function planRemoval(
  input: PreviewInput,
  plugin: Plugin,
  declared: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<PluginPlan> {
  const entries = plugin.status?.inventory ?? [];
  const live = await readLive(input.client, entries);
  const contents = await contentsOf(input.client, plugin, entries, live);
  return planObjects({
    ...common(input, plugin, declared),
    desired: [],
    live,
    record: entries,
    revisionComplete: true,
    removing: true,
    ...contents,
  });
}

function common(input: PreviewInput, plugin: Plugin, declared: ReadonlyMap<string, ReadonlySet<string>>) {
  const self = keyOf(plugin);
  return {
    plugin: { namespace: plugin.metadata.namespace ?? '', name: plugin.metadata.name },
    rules: rulesOf(plugin),
    isAgent: input.isAgent,
    namespaceUsedBy: (namespace: string) => namespaceUser(input.plugins, self, namespace),
    elsewhere: (at: string) => [...declared].find(([key, objects]) => key !== self && objects.has(at))?.[0],
    ownerStillDeclares: (owner: string, at: string) => declared.get(owner)?.has(at) ?? false,
  };
}

/** What the API server would make of each object: defaulting, admission and refusals included. Nothing is written. */
async function predict(
  client: KubeClient,
  plugin: Plugin,
  objects: readonly KubeObject[],
): Promise<Map<string, Prediction>> {
  const predicted = new Map<string, Prediction>();
  const inNewNamespace = new Set(
    objects.filter((object) => object.kind === 'Namespace').map((object) => object.metadata.name),
  );
  const results = await settleAll(objects, PARALLEL_DRY_RUNS, async (object): Promise<Prediction | undefined> => {
    try {
      return await client.apply(object, {
        fieldManager: FIELD_MANAGER,
        force: plugin.spec.apply.force || plugin.spec.drift.mode === 'repair',
        dryRun: true,
      });
    } catch (error) {
      if (isError(error, 'KubeApplyConflict')) return { conflicts: conflictsOf(error) };
      // The API server can't try what lives in something that this very plan creates.
      if (isError(error, 'KubeKindUnknown')) return undefined;
      if (isError(error, 'KubeNotFound') && inNewNamespace.has(object.metadata.namespace ?? '')) return undefined;
      if (isError(error, 'KubeInvalid', 'KubeForbidden', 'KubeNotFound')) return { refused: error.message };
      throw error;
    }
  });
  results.forEach((result, index) => {
    const object = objects[index];
    if (result.status === 'rejected') throw result.reason;
    if (object !== undefined && result.value !== undefined) predicted.set(refKey(refOf(object)), result.value);
  });
  return predicted;
}

/** Plugins of the Sync that the revision no longer declares. */
function removedPlugins({ sync, compiled }: PreviewInput, liveByKey: ReadonlyMap<string, Plugin>): Plugin[] {
  const owned = new Set(
    (sync.status?.inventory ?? [])
      .filter((entry) => entry.kind === 'Plugin')
      .map((entry) => keyOf({ metadata: entry })),
  );
  return [...liveByKey.values()].filter((plugin) => owned.has(keyOf(plugin)) && !compiled.plugins.has(keyOf(plugin)));
}
