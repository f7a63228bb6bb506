import { type KubeObject, type Plugin, refKey, refOf, type Sync, type SyncFault } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { settleAll } from '../converge/limit.ts';
import { type Plan, settleDuplicates } from '../plan/whole.ts';
import type { Touch } from '../report/outline.ts';
import type { Compiled } from './compile.ts';
import { dependenciesOf } from './dependents.ts';
import { baseOf, type History } from './history.ts';
import { parentKeyOf, syncKeyOf, syncOver } from './nesting.ts';
import { circlesIn, isMeantOf, isMeantWith, pluginsIn, vanishedPlugins, withNestedBehind } from './preview-nested.ts';
import { type DeclaredKeys, expectedOf, planCandidate, planRemoval } from './preview-plugin.ts';
import { standingInCluster, standingNestedIn } from './preview-standing.ts';
import { waitsInPreview } from './preview-waits.ts';
import { nestedCounts, removalHold } from './prune-revision.ts';
import { isDeclared } from './records.ts';
import {
  type RenderedRevision,
  type RenderRevisionInput,
  type RevisionPlugin,
  renderRevision,
} from './render-revision.ts';
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
  const revision = await render(input, plan);
  const candidates = revision.plugins;
  const removed = removedPlugins(input, revision);
  const vanished = vanishedPlugins(input, revision, removed);
  const declared = declaredBy(input, candidates, new Set(vanished.map(keyOf)));
  const unknown = whatIsUnknown(input, revision, plan);
  plan.faults.push(...asPlanFaults(compiled.misfits));
  const common = { preview: input, declared, unknown, expected: expectedOf(candidates) };

  const touches: Touch[] = [];
  const planned = await settleAll(
    candidates.filter((one) => isMeantOf(isMeant, one) && one.asBefore !== true && !one.plugin.spec.suspend),
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
  const leaving = [...removed, ...vanished];
  for (const plugin of leaving.filter((one) => isMeantWith(isMeant, one, input.plugins))) {
    const removal = await planRemoval({ ...common, unknown: pruneOff ?? unknown }, plugin);
    plan.plugins.push(removal);
    touches.push(...touchesOf(keyOf(plugin), removal, NOTHING, NOTHING));
    holdForDependents(input, plugin, leaving, plan, revision.nested);
  }
  plan.plugins = settleDuplicates(plan.plugins);
  const now = pluginsIn(input.plugins, declared);
  const lost = pruneOff === undefined ? removed.filter((plugin) => !isMoved(plugin, declared)) : [];
  const nested = nestedCounts(keyOf(sync), lost.map(refOf), now);
  const counts = { remove: lost.length, nested };
  const hold = removalHold(sync, compiled, counts, { base: baseOf(sync), history: input.history });
  if (hold.held) plan.held.push({ reason: hold.reason, howToApprove: hold.howToApprove });
  plan.driftBefore = driftBefore(input, plan);
  return { plan, touches };
}

/** Drift of Plugins that the plan leaves as they are. */
function driftBefore({ plugins, sync, touched }: PreviewInput, plan: Plan): Plan['drift'] {
  const planned = new Set(plan.plugins.map(({ plugin }) => `${plugin.namespace}/${plugin.name}`));
  const live = new Map(plugins.map((plugin) => [keyOf(plugin), plugin]));
  const isTaken = (plugin: Plugin) => touched !== undefined || parentKeyOf(plugin) !== undefined;
  const others = plugins.filter(
    (plugin) =>
      isTaken(plugin) && syncOver(plugin, (key) => live.get(key)) === keyOf(sync) && !planned.has(keyOf(plugin)),
  );
  return others.flatMap((plugin) => toldDrift(plugin, keyOf(plugin)));
}

/** What the revision renders to. What waits, and what is at fault, goes into the plan. */
async function render(input: PreviewInput, plan: Plan): Promise<RenderedRevision> {
  const { client, sync, compiled } = input;
  const live = new Map(input.plugins.map((plugin) => [keyOf(plugin), plugin]));
  const isNestedHere = (one: Plugin) =>
    parentKeyOf(one) !== undefined && syncOver(one, (key) => live.get(key)) === keyOf(sync);
  const revision = await renderRevision({
    ...input,
    kinds: client,
    live,
    standing: (wanted, there) =>
      standingInCluster({ client, sync, commit: compiled.commit, isNestedHere }, wanted, there),
    nested: 'changed',
    standingNested: (object, there, account) => standingNestedIn(client, object, there, account),
  });
  plan.faults.push(...revision.faults);
  plan.waits.push(...revision.waits);
  const beside = new Map(revision.plugins.map((one) => [one.key, one]));
  plan.faults.push(...circlesIn(revision.plugins, live));
  for (const one of revision.plugins.filter(({ isNew }) => isNew)) {
    if (one.plugin.spec.suspend) plan.waits.push({ plugin: one.key, for: 'somebody to resume it: it is suspended' });
    const waits = await waitsInPreview(client, one, beside, live);
    plan.waits.push(...waits.map((wait) => ({ plugin: one.key, for: wait })));
  }
  revision.plugins = withNestedBehind(revision.plugins);
  return revision;
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
  vanished: ReadonlySet<string>,
): Map<string, ReadonlySet<string>> {
  const own = keyOf(sync);
  const declared = new Map<string, ReadonlySet<string>>();
  for (const plugin of plugins) {
    const key = keyOf(plugin);
    if ((syncKeyOf(plugin) === own && !compiled.plugins.has(key)) || vanished.has(key)) continue;
    declared.set(key, new Set((plugin.status?.inventory ?? []).filter(isDeclared).map(refKey)));
  }
  for (const { key, rendered, asBefore } of candidates)
    if (asBefore !== true) declared.set(key, new Set(rendered?.hashes.keys() ?? []));
  return declared;
}

/** Why nothing would be deleted yet: law 2. */
function whatIsUnknown(
  { compiled, touched, plugins }: PreviewInput,
  { plugins: candidates, nested }: RenderedRevision,
  plan: Plan,
): string | undefined {
  if (plan.faults.length > 0) return 'waits for every fault of the revision to be corrected';
  const known = new Set(candidates.map(({ key }) => key));
  // What is not touched rendered before, if it is installed.
  for (const plugin of plugins)
    if (touched?.has(keyOf(plugin)) === false && plugin.status?.revision !== undefined) known.add(keyOf(plugin));
  const missing = [...compiled.plugins, ...nested].find((key) => !known.has(key));
  return missing === undefined ? undefined : `waits for Plugin ${missing} to render`;
}

/** Plugins of the Sync that the revision no longer declares, nor renders. */
function removedPlugins({ sync, compiled, plugins, isAgent }: PreviewInput, { nested }: RenderedRevision): Plugin[] {
  const owned = new Set(
    (sync.status?.inventory ?? [])
      .filter((entry) => entry.kind === 'Plugin')
      .map((entry) => keyOf({ metadata: entry })),
  );
  return plugins.filter(
    (plugin) =>
      owned.has(keyOf(plugin)) &&
      syncKeyOf(plugin) !== undefined &&
      !compiled.plugins.has(keyOf(plugin)) &&
      !nested.has(keyOf(plugin)) &&
      !isAgent(plugin),
  );
}

/** Renamed or split up: other Plugins of the revision declare all that it installed. */
function isMoved(plugin: Plugin, declared: DeclaredKeys): boolean {
  const inventory = plugin.status?.inventory ?? [];
  const others = [...declared].filter(([key]) => key !== keyOf(plugin)).map(([, objects]) => objects);
  return inventory.length > 0 && inventory.every((entry) => others.some((objects) => objects.has(refKey(entry))));
}

/** Plugins of other Syncs, and of people, may still need what leaves. Those of the revision are faults of it. */
function holdForDependents(
  { plugins, compiled }: PreviewInput,
  plugin: Plugin,
  removed: Plugin[],
  plan: Plan,
  nested: ReadonlySet<string>,
): void {
  const key = keyOf(plugin);
  const needed = plugins.filter(
    (other) =>
      dependenciesOf(other).includes(key) &&
      !removed.includes(other) &&
      !compiled.plugins.has(keyOf(other)) &&
      !nested.has(keyOf(other)) &&
      (other.status?.inventory ?? []).length > 0,
  );
  if (needed.length === 0) return;
  const reason = `still needed by ${needed.map(keyOf).join(', ')}`;
  plan.held.push({ plugin: key, reason, howToApprove: 'remove the dependency there, or remove them too' });
}
