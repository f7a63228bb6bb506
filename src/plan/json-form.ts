import type { Json, JsonObject } from '../api/index.ts';
import type { ObjectPlan, PluginPlan, VersionChange } from './object-plan.ts';
import { type Plan, type PlanSummary, summaryOf } from './whole.ts';

/** Programs check this first. Fields are added within a version; a change of meaning makes a new one. */
export const PLAN_VERSION = 'espalier.dev/plan/v1';

export interface PlanDocument {
  version: typeof PLAN_VERSION;
  cluster: string | null;
  commit: { base: string | null; head: string };
  summary: PlanSummary;
  plugins: PluginDocument[];
  held: Plan['held'];
  faults: Plan['faults'];
  waits: Plan['waits'];
  drift: Plan['drift'];
  driftBefore: Plan['drift'];
}

export interface PluginDocument {
  namespace: string;
  name: string;
  /** `namespace/name` of the Plugin that renders it. */
  nestedIn: string | null;
  summary: PluginPlan['counts'];
  objects: ObjectDocument[];
  warnings: string[];
  versions: VersionChange[];
  images: string[];
  imagesLeft: string[];
}

/** The reference of an object beside what happens to it: see docs/plan.md for the fields of each action. */
export type ObjectDocument = {
  action: ObjectPlan['action'];
  apiVersion: string;
  kind: string;
  namespace: string | null;
  name: string;
} & JsonObject;

/** A plan for programs. Holds exactly what the other forms show: masked values stay masked. */
export function planDocument(plan: Plan): PlanDocument {
  return {
    version: PLAN_VERSION,
    cluster: plan.cluster ?? null,
    commit: { base: plan.commit.base ?? null, head: plan.commit.head },
    summary: summaryOf(plan),
    plugins: plan.plugins.map((plugin) => ({
      namespace: plugin.plugin.namespace,
      name: plugin.plugin.name,
      nestedIn: plugin.nestedIn ?? null,
      summary: plugin.counts,
      objects: plugin.objects.map(objectDocument),
      warnings: plugin.warnings,
      versions: plugin.versions ?? [],
      images: plugin.images ?? [],
      imagesLeft: plugin.imagesLeft ?? [],
    })),
    held: plan.held,
    faults: plan.faults,
    waits: plan.waits,
    drift: plan.drift,
    driftBefore: plan.driftBefore ?? [],
  };
}

function objectDocument({ key: _, ref, ...rest }: ObjectPlan): ObjectDocument {
  const { apiVersion, kind, name, namespace } = ref;
  const details = Object.entries(rest).filter(([field, value]) => value !== undefined && field !== 'forget');
  return {
    ...(Object.fromEntries(details) as { [field: string]: Json }),
    action: rest.action,
    apiVersion,
    kind,
    namespace: namespace ?? null,
    name,
  };
}
