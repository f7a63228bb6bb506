import type { ObjectPlan, PluginPlan } from './object-plan.ts';
import { countActions } from './object-plan.ts';

/** Something that a commit would do to a cluster, as a whole. */
export interface Plan {
  cluster?: string;
  commit: { base?: string; head: string };
  /** In the order in which they are carried out. */
  plugins: PluginPlan[];
  /** Removals that wait for approval. `plugin` is absent when it is the Sync's Plugins that are held. */
  held: { plugin?: string; reason: string; howToApprove: string }[];
  /** Declarations that could not be read or rendered. What they declared stays as it is. */
  faults: { plugin?: string; file?: string; line?: number; column?: number; message: string }[];
  /** What has to happen first. */
  waits: { plugin: string; for: string }[];
  /** Fields that somebody changed in the cluster, and that carrying out the plan would put back. */
  drift: { plugin: string; object: string; fields: string[]; by?: string }[];
  /** Drift of Plugins that the plan does not touch: it was there before and stays. */
  driftBefore?: Plan['drift'];
}

export interface PlanSummary {
  plugins: number;
  create: number;
  adopt: number;
  change: number;
  delete: number;
  moved: number;
  keep: number;
  unchanged: number;
  conflict: number;
  refused: number;
  held: number;
  faults: number;
}

export function summaryOf(plan: Plan): PlanSummary {
  const counts = countActions(plan.plugins.flatMap((plugin) => plugin.objects));
  return { plugins: plan.plugins.length, ...counts, held: plan.held.length, faults: plan.faults.length };
}

/** `3 plugins: 2 to create, 5 to change, 1 to delete, 1 kept, 1 held` */
export function summaryLine(plan: Plan): string {
  const summary = summaryOf(plan);
  const parts: [number, string][] = [
    [summary.create, 'to create'],
    [summary.adopt, 'to adopt'],
    [summary.change, 'to change'],
    [summary.delete, 'to delete'],
    [summary.moved, 'moved'],
    [summary.keep, 'kept'],
    [summary.conflict, 'in conflict'],
    [summary.refused, 'refused'],
    [summary.held, 'held'],
    [summary.faults, summary.faults === 1 ? 'fault' : 'faults'],
  ];
  const said = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const plugins = summary.plugins === 1 ? '1 plugin' : `${summary.plugins} plugins`;
  return `${plugins}: ${said.length === 0 ? 'no changes' : said.join(', ')}`;
}

/** Whether carrying it out would write to the cluster, or somebody must look: `espalier plan --detailed-exitcode`. */
export function hasChanges(plan: Plan): boolean {
  const { create, adopt, change, delete: deleted, conflict, refused, held, faults } = summaryOf(plan);
  return create + adopt + change + deleted + conflict + refused + held + faults > 0;
}

/**
 * Two Plugins of one plan may both declare an object that does not exist yet. Each plan alone says create; only the
 * first will. The other is told which, unless it needs the object to exist and no more.
 */
export function settleDuplicates(plugins: readonly PluginPlan[]): PluginPlan[] {
  const creators = new Map<string, string>();
  return plugins.map((plan) => {
    const self = `${plan.plugin.namespace}/${plan.plugin.name}`;
    const objects = plan.objects.map((object): ObjectPlan => {
      if (object.action !== 'create' && object.action !== 'adopt') return object;
      const first = creators.get(object.key);
      creators.set(object.key, first ?? self);
      if (first === undefined || first === self) return object;
      const { key, ref } = object;
      if (object.action === 'create' && object.ensure) return { key, ref, action: 'unchanged', isOurs: false };
      const why = 'that plugin comes first in this plan; declare it in one of the two';
      return { key, ref, action: 'conflict', with: `plugin ${first}`, why };
    });
    return { ...plan, objects, counts: countActions(objects) };
  });
}
