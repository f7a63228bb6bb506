import { describeRef, type ObjectRef, type Plugin, refKey, refOf } from '../api/index.ts';
import { readInventory } from '../converge/inventory.ts';
import { readLive } from '../converge/live.ts';
import { groupKind } from '../converge/watches.ts';
import { countActions, type PluginPlan } from '../plan/object-plan.ts';
import { planObjects } from '../plan/plan.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import type { Plan } from '../plan/whole.ts';
import type { Touch } from '../report/outline.ts';
import { asAccount } from './account.ts';
import { contentsOf, namespaceUser } from './contents.ts';
import { definedKind } from './definitions.ts';
import { type Expected, tryTasks } from './dry-run.ts';
import { holdFor } from './holds.ts';
import { rulesOf } from './look.ts';
import { nestedLosses } from './nested-losses.ts';
import { parentKeyOf } from './nesting.ts';
import { onceWishes } from './once.ts';
import type { PreviewInput } from './preview.ts';
import { pluginsIn } from './preview-nested.ts';
import { toldBeside } from './preview-versions.ts';
import { KEPT } from './records.ts';
import type { RevisionPlugin } from './render-revision.ts';
import { keyOf } from './store.ts';
import { formOf, NO_WRITES, type Tasks, tasksFor } from './tasks.ts';
import { touchesOf } from './touches.ts';

/** Reference keys of what each Plugin will declare, by its own key. */
export type DeclaredKeys = ReadonlyMap<string, ReadonlySet<string>>;

export interface PreviewCommon {
  preview: PreviewInput;
  declared: DeclaredKeys;
  /** Why nothing would be deleted; undefined when everything is known. */
  unknown: string | undefined;
  expected: Expected;
}

/** What one Plugin of the revision would do. Undefined when it is not for this cluster, and nothing of it is here. */
export async function planCandidate(
  common: PreviewCommon,
  { plugin, facts, parents, rendered, key, secrets, isNew, commit }: RevisionPlugin,
  plan: Plan,
): Promise<{ plan: PluginPlan; touches: Touch[] } | undefined> {
  const record = readInventory(plugin.status?.inventory);
  if (rendered === undefined)
    return record.size === 0 ? undefined : { plan: await planRemoval(common, plugin), touches: [] };
  const client = asAccount(common.preview.client, facts.account);
  const refs = new Map<string, ObjectRef>([
    ...rendered.objects.map((object) => [refKey(refOf(object)), refOf(object)] as const),
    ...record,
  ]);
  const live = await readLive(client, [...refs.values()]);
  const dropped = [...record.values()].filter((entry) => !rendered.hashes.has(refKey(entry)));
  const open = new Map(
    rendered.objects.map((declared) => {
      const at = refKey(refOf(declared));
      return [at, { declared, form: formOf(plugin, declared, live.get(at)) }];
    }),
  );
  const unknown = facts.pruneEnabled ? common.unknown : 'spec.prune.enabled of the Sync is false';
  const input: PlanInput = {
    ...shared({ ...common, unknown }, plugin),
    desired: [...open.values()].map(({ form }) => form.object),
    live,
    record: [...record.values()],
    ensure: rendered.ensure,
    once: onceWishes(rendered, record, new Set()),
    mask: { values: secrets },
    ...(await contentsOf(client, plugin, dropped, live, leavingBeside(common, key))),
  };
  const tasksOf = (made: PluginPlan) =>
    tasksFor({ plugin, record, rendered, plan: made, known: NO_WRITES, open, live });
  const first = tasksOf(planObjects(input));
  const undoing = [...first.drift.values()].map(({ undo }) => undo);
  const tried = await tryTasks(client, [...new Set([...first.tasks, ...undoing])], common.expected);
  const whole = planWhole({ ...input, predicted: tried.predicted });
  const found = tasksOf(whole);
  const result = withoutLeftDrift(whole, found);
  const left = noteDrift(key, plugin, found, plan);
  const head = common.preview.compiled.commit;
  const now = pluginsIn(common.preview.plugins, common.declared);
  const losses = nestedLosses({ plan: result, record, objects: rendered.objects }, now);
  const hold = holdFor({ plugin, facts, record, rendered, plan: result, losses, isNew, commit, head });
  if (hold !== undefined) plan.held.push({ plugin: key, reason: hold.why, howToApprove: hold.howToApprove });
  const beside = isNew ? toldBeside(plugin, rendered, result, live.values(), facts.imageFields) : NOTHING_BESIDE;
  const warnings = [...result.warnings, ...beside.warnings, ...left, ...rendered.warnings, ...tried.warnings];
  return {
    plan: {
      ...result,
      ...beside,
      warnings,
      imagesLeft: facts.reportImages ? [...rendered.imagesLeft] : [],
      ...nestedUnder(parents),
    },
    touches: isNew ? touchesOf(key, result, rendered.hashes, record) : [],
  };
}

function nestedUnder([parent]: readonly Plugin[]): Pick<PluginPlan, 'nestedIn'> {
  return parent === undefined ? {} : { nestedIn: keyOf(parent) };
}

const NOTHING_BESIDE = { versions: [], images: [], warnings: [] };

/** As in a real run: what can't be applied keeps what it may be meant to replace. */
function planWhole(input: PlanInput): PluginPlan {
  const plan = planObjects(input);
  if (plan.counts.delete === 0 || plan.counts.conflict + plan.counts.refused === 0) return plan;
  const whyIncomplete = 'it goes once everything that the plugin declares could be applied';
  return planObjects({ ...input, revisionComplete: false, whyIncomplete });
}

/** What goes when a Plugin leaves, is switched off, or is no longer for this cluster. */
export async function planRemoval(common: PreviewCommon, plugin: Plugin): Promise<PluginPlan> {
  const { client } = common.preview;
  const entries = plugin.status?.inventory ?? [];
  const live = await readLive(client, entries);
  const contents = await contentsOf(client, plugin, entries, live, leavingBeside(common, keyOf(plugin)));
  const nestedIn = parentKeyOf(plugin);
  const plan = planObjects({
    ...shared(common, plugin),
    desired: [],
    live,
    record: entries,
    removing: true,
    ...contents,
  });
  return nestedIn === undefined ? plan : { ...plan, nestedIn };
}

/** What the revision itself brings before anything is tried that needs it. */
export function expectedOf(candidates: readonly RevisionPlugin[]): Expected {
  const namespaces = new Set<string>();
  const kinds = new Map<string, 'as before' | 'changed'>();
  for (const { plugin, rendered } of candidates) {
    const record = readInventory(plugin.status?.inventory);
    for (const object of rendered?.objects ?? []) {
      if (object.kind === 'Namespace') namespaces.add(object.metadata.name);
      const kind = definedKind(object);
      if (kind === undefined) continue;
      const at = refKey(refOf(object));
      const isApplied = record.get(at)?.applied === rendered?.hashes.get(at);
      kinds.set(groupKind(kind), isApplied ? 'as before' : 'changed');
    }
  }
  return {
    namespace: (name) => namespaces.has(name),
    kind: (ref) => kinds.get(groupKind(ref)),
    isForPeople: true,
  };
}

function shared({ preview, declared, unknown }: PreviewCommon, plugin: Plugin) {
  const self = keyOf(plugin);
  const staying = preview.plugins.filter((one) => (declared.get(keyOf(one))?.size ?? 0) > 0);
  return {
    plugin: { namespace: plugin.metadata.namespace ?? '', name: plugin.metadata.name },
    rules: rulesOf(plugin),
    revisionComplete: unknown === undefined,
    ...(unknown === undefined ? {} : { whyIncomplete: unknown }),
    isAgent: preview.isAgent,
    namespaceUsedBy: (namespace: string) => namespaceUser(staying, self, namespace),
    elsewhere: (at: string) => [...declared].find(([key, objects]) => key !== self && objects.has(at))?.[0],
    ownerStillDeclares: (owner: string, at: string) => declared.get(owner)?.has(at) ?? false,
  };
}

/** Reference keys of what other Plugins let go. */
function leavingBeside({ preview, declared }: PreviewCommon, self: string): Set<string> {
  const others = preview.plugins.filter((plugin) => keyOf(plugin) !== self);
  const keys = others.flatMap((plugin) =>
    (plugin.status?.inventory ?? [])
      .filter((entry) => entry.applied !== KEPT)
      .map(refKey)
      .filter((at) => declared.get(keyOf(plugin))?.has(at) !== true),
  );
  return new Set(keys);
}

/** Where drift is only told, the plan must not say that it goes away. */
function withoutLeftDrift(plan: PluginPlan, { tasks, drift }: Tasks): PluginPlan {
  const left = new Set([...drift].filter(([, { undo }]) => !tasks.includes(undo)).map(([at]) => at));
  if (left.size === 0) return plan;
  const objects = plan.objects.flatMap((object): PluginPlan['objects'] => {
    if (!left.has(object.key)) return [object];
    if (object.action === 'create') return [];
    return [{ key: object.key, ref: object.ref, action: 'unchanged', isOurs: true }];
  });
  return { ...plan, objects, counts: countActions(objects) };
}

/** Drift that the plan puts back goes into it; about drift that stays, a warning is returned. */
function noteDrift(key: string, plugin: Plugin, { tasks, drift }: Tasks, plan: Plan): string[] {
  const { mode } = plugin.spec.drift;
  const warnings: string[] = [];
  for (const { entry, undo } of drift.values()) {
    const { object, fields, by } = entry;
    if (tasks.includes(undo)) plan.drift.push({ plugin: key, object, fields, ...(by === undefined ? {} : { by }) });
    else if (mode !== 'ignore')
      warnings.push(
        `${describeRef(refOf(undo.object))}: ${fields.join(', ')} changed by ${by ?? 'somebody'}; it stays so with drift.mode ${mode}`,
      );
  }
  return warnings;
}
