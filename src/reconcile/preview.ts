import { type KubeObject, type Plugin, refKey, type Sync, type SyncFault } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { settleAll } from '../converge/limit.ts';
import { type Plan, settleDuplicates } from '../plan/whole.ts';
import type { Touch } from '../report/outline.ts';
import type { Compiled } from './compile.ts';
import { dependenciesOf } from './dependents.ts';
import { syncKeyOf } from './facts.ts';
import { baseOf, type History } from './history.ts';
import { type DeclaredKeys, expectedOf, planCandidate, planRemoval } from './preview-plugin.ts';
import { standingInCluster } from './preview-standing.ts';
import { waitsInPreview } from './preview-waits.ts';
import { removalHold } from './prune-revision.ts';
import { isDeclared } from './records.ts';
import { type RenderRevisionInput, type RevisionPlugin, renderRevision } from './render-revision.ts';
import { keyOf } from './store.ts';
import { toldDrift } from './told-drift.ts';
import { touchesOf } from './touches.ts';

export interface PreviewInput
  extends Pick<
    RenderRevisionInput,
    'sync' | 'tree' | 'ownSource' | 'helm' | 'touched' | 'isUntrusted' | 'signal' | 'onRendered'
  > {
  client: KubeClient;
  compiled: Compiled;
  /** Every Plugin in the cluster. */
  plugins: readonly Plugin[];
  kubernetes: string;
  history: History;
  isAgent(object: KubeObject): boolean;
  /** Which Plugins to plan; all when left out. */
  only?: (key: string) => boolean;
}

export interface Preview {
  plan: Plan;
  /** The plan's outline, to compare with what is done once it is in force. */
  touches: Touch[];
}

const PARALLEL_PLUGINS = 4;
const NOTHING = new Map<string, never>();

/**
 * What a revision would do to the cluster, without doing it: the same compiling, rendering and planning as in a real
 * run, with server-side dry runs in place of the writes.
 */
export async function previewRevision(input: PreviewInput): Promise<Preview> {
  const { sync, compiled } = input;
  const plan = { ...emptyPlan(sync, compiled.commit), faults: asPlanFaults(compiled.faults) };
  const isMeant = input.only ?? (() => true);
  const candidates = await render(input, plan);
  const declared = declaredBy(input, candidates);
  const removed = removedPlugins(input);
  const unknown = whatIsUnknown(input, candidates, plan);
  plan.faults.push(...asPlanFaults(compiled.misfits));
  const common = { preview: input, declared, unknown, expected: expectedOf(candidates) };

  const touches: Touch[] = [];
  const planned = await settleAll(
    candidates.filter(({ key, plugin }) => isMeant(key) && !plugin.spec.suspend),
    PARALLEL_PLUGINS,
    (one) => planCandidate(common, one, plan),
  );
  for (const result of planned) {
    if (result.status === 'rejected') throw result.reason;
    if (result.value === undefined) continue;
    plan.plugins.push(result.value.plan);
    touches.push(...result.value.touches);
  }
  const pruneOff = sync.spec.prune.enabled ? undefined : 'spec.prune.enabled of the Sync is false';
  for (const plugin of removed.filter((one) => isMeant(keyOf(one)))) {
    const removal = await planRemoval({ ...common, unknown: pruneOff ?? unknown }, plugin);
    plan.plugins.push(removal);
    touches.push(...touchesOf(keyOf(plugin), removal, NOTHING, NOTHING));
    holdForDependents(input, plugin, removed, plan);
  }
  plan.plugins = settleDuplicates(plan.plugins);
  const lost = pruneOff === undefined ? removed.filter((plugin) => !isMoved(plugin, declared)) : [];
  const hold = removalHold(sync, compiled, lost.length, { base: baseOf(sync), history: input.history });
  if (hold.held) plan.held.push({ reason: hold.reason, howToApprove: hold.howToApprove });
  plan.driftBefore = driftBefore(input, plan);
  return { plan, touches };
}

/** Drift of Plugins that the plan leaves as they are. */
function driftBefore({ plugins, sync, touched }: PreviewInput, plan: Plan): Plan['drift'] {
  const planned = new Set(plan.plugins.map(({ plugin }) => `${plugin.namespace}/${plugin.name}`));
  const others = plugins.filter(
    (plugin) => touched !== undefined && syncKeyOf(plugin) === keyOf(sync) && !planned.has(keyOf(plugin)),
  );
  return others.flatMap((plugin) => toldDrift(plugin, keyOf(plugin)));
}

/** What the revision renders to. What waits, and what is at fault, goes into the plan. */
async function render(input: PreviewInput, plan: Plan): Promise<RevisionPlugin[]> {
  const { client, sync, compiled } = input;
  const live = new Map(input.plugins.map((plugin) => [keyOf(plugin), plugin]));
  const revision = await renderRevision({
    ...input,
    kinds: client,
    live,
    standing: (wanted, there) => standingInCluster({ client, sync, commit: compiled.commit }, wanted, there),
  });
  plan.faults.push(...revision.faults);
  plan.waits.push(...revision.waits);
  const beside = new Map(revision.plugins.map((one) => [one.key, one]));
  for (const one of revision.plugins.filter(({ isNew }) => isNew)) {
    if (one.plugin.spec.suspend) plan.waits.push({ plugin: one.key, for: 'somebody to resume it: it is suspended' });
    const waits = await waitsInPreview(client, one, beside, live);
    plan.waits.push(...waits.map((wait) => ({ plugin: one.key, for: wait })));
  }
  return revision.plugins;
}

/** What a commit would do, before anything is known of it. */
export function emptyPlan({ spec, status }: Sync, head: string): Plan {
  const base = status?.commit;
  const cluster = spec.cluster?.name;
  return {
    ...(cluster === undefined ? {} : { cluster }),
    commit: { ...(base === undefined ? {} : { base }), head },
    ...{ plugins: [], held: [], faults: [], waits: [], drift: [] },
  };
}

function asPlanFaults(faults: readonly SyncFault[]): Plan['faults'] {
  return faults.map(({ file, line, column, message, object }) => ({
    file,
    message: object === undefined ? message : `${object}: ${message}`,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  }));
}

/** What every Plugin will declare once the revision is in force: rendered ones by their objects, others by their record. */
function declaredBy(
  { plugins, sync, compiled }: PreviewInput,
  candidates: readonly RevisionPlugin[],
): Map<string, ReadonlySet<string>> {
  const own = keyOf(sync);
  const declared = new Map<string, ReadonlySet<string>>();
  for (const plugin of plugins) {
    const key = keyOf(plugin);
    if (syncKeyOf(plugin) === own && !compiled.plugins.has(key)) continue;
    declared.set(key, new Set((plugin.status?.inventory ?? []).filter(isDeclared).map(refKey)));
  }
  for (const { key, rendered } of candidates) declared.set(key, new Set(rendered?.hashes.keys() ?? []));
  return declared;
}

/** Why nothing would be deleted yet: law 2. */
function whatIsUnknown(
  { compiled, touched, plugins }: PreviewInput,
  candidates: RevisionPlugin[],
  plan: Plan,
): string | undefined {
  if (plan.faults.length > 0) return 'waits for every fault of the revision to be corrected';
  const known = new Set(candidates.map(({ key }) => key));
  // What is not touched rendered before, if it is installed.
  for (const plugin of plugins)
    if (touched?.has(keyOf(plugin)) === false && plugin.status?.revision !== undefined) known.add(keyOf(plugin));
  const missing = [...compiled.plugins].find((key) => !known.has(key));
  return missing === undefined ? undefined : `waits for Plugin ${missing} to render`;
}

/** Plugins of the Sync that the revision no longer declares. */
function removedPlugins({ sync, compiled, plugins, isAgent }: PreviewInput): Plugin[] {
  const owned = new Set(
    (sync.status?.inventory ?? [])
      .filter((entry) => entry.kind === 'Plugin')
      .map((entry) => keyOf({ metadata: entry })),
  );
  return plugins.filter(
    (plugin) => owned.has(keyOf(plugin)) && !compiled.plugins.has(keyOf(plugin)) && !isAgent(plugin),
  );
}

/** Renamed or split up: other Plugins of the revision declare all that it installed. */
function isMoved(plugin: Plugin, declared: DeclaredKeys): boolean {
  const inventory = plugin.status?.inventory ?? [];
  const others = [...declared].filter(([key]) => key !== keyOf(plugin)).map(([, objects]) => objects);
  return inventory.length > 0 && inventory.every((entry) => others.some((objects) => objects.has(refKey(entry))));
}

/** Plugins of other Syncs, and of people, may still need what leaves. Those of the revision are faults of it. */
function holdForDependents({ plugins, compiled }: PreviewInput, plugin: Plugin, removed: Plugin[], plan: Plan): void {
  const key = keyOf(plugin);
  const needed = plugins.filter(
    (other) =>
      dependenciesOf(other).includes(key) &&
      !removed.includes(other) &&
      !compiled.plugins.has(keyOf(other)) &&
      (other.status?.inventory ?? []).length > 0,
  );
  if (needed.length === 0) return;
  const reason = `still needed by ${needed.map(keyOf).join(', ')}`;
  plan.held.push({ plugin: key, reason, howToApprove: 'remove the dependency there, or remove them too' });
}
