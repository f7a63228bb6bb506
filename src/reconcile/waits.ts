import { describeRef, type KubeObject, type ObjectRef, type Plugin } from '../api/index.ts';
import { celHealth } from '../cluster/celhealth.ts';
import { type Health, healthOf } from '../cluster/health.ts';
import { windowOpen } from '../runtime/cron.ts';
import { dependenciesOf } from './dependents.ts';
import { conditionIsTrue, type Readiness } from './readiness.ts';

export interface WaitsInput {
  plugin: Plugin;
  /** Of a Plugin named by its key. */
  pluginReadiness(key: string): Readiness;
  outside(ref: ObjectRef): KubeObject | 'absent' | 'unknown';
  now: number;
}

export interface Waits {
  /** What must happen first, each as `name: why`. */
  for: string[];
  /** When time alone ends a wait. */
  until?: number;
}

/** What a change of this Plugin has to wait for. Looks only at what is already in memory. */
export function waitsOf({ plugin, pluginReadiness, outside, now }: WaitsInput): Waits {
  const waits: Waits = { for: [] };
  for (const key of dependenciesOf(plugin)) {
    const readiness = pluginReadiness(key);
    if (!readiness.ready) waits.for.push(`${shortKey(plugin, key)}: ${readiness.why}`);
  }
  for (const dependency of plugin.spec.dependsOn ?? []) {
    const ref = objectDependency(plugin, dependency);
    if (ref === undefined) continue;
    const why = notReady(outside(ref), dependency.ready);
    if (why !== undefined) waits.for.push(`${describeRef(ref)}: ${why}`);
  }
  for (const gate of plugin.spec.gates ?? []) {
    const ref = gateRef(gate);
    const object = outside(ref);
    if (typeof object === 'string')
      waits.for.push(`${describeRef(ref)}: ${object === 'absent' ? 'does not exist' : 'not seen yet'}`);
    else if (!conditionIsTrue(object, gate.condition))
      waits.for.push(`${describeRef(ref)}: condition ${gate.condition} is not true`);
  }
  const window = plugin.spec.when?.window;
  if (window !== undefined) {
    const state = windowOpen(window, now);
    if (!state.open) {
      waits.for.push(`its window, which opens at ${new Date(state.opensAt).toISOString()}`);
      waits.until = state.opensAt;
    }
  }
  return waits;
}

/** Objects that must be watched to know the answer. */
export function outsideRefs(plugin: Plugin): ObjectRef[] {
  const dependencies = (plugin.spec.dependsOn ?? []).map((dependency) => objectDependency(plugin, dependency));
  return [...dependencies.filter((ref) => ref !== undefined), ...(plugin.spec.gates ?? []).map(gateRef)];
}

type Dependency = NonNullable<Plugin['spec']['dependsOn']>[number];
type Gate = NonNullable<Plugin['spec']['gates']>[number];

function objectDependency(_plugin: Plugin, dependency: Dependency): ObjectRef | undefined {
  const { apiVersion, kind, name, namespace } = dependency;
  if (apiVersion === undefined || kind === undefined || kind === 'Plugin') return undefined;
  return namespace === undefined ? { apiVersion, kind, name } : { apiVersion, kind, name, namespace };
}

function gateRef(gate: Gate): ObjectRef {
  const { apiVersion, kind, name, namespace } = gate;
  return namespace === undefined ? { apiVersion, kind, name } : { apiVersion, kind, name, namespace };
}

function notReady(object: KubeObject | 'absent' | 'unknown', expression: string | undefined): string | undefined {
  if (object === 'absent') return 'does not exist';
  if (object === 'unknown') return 'not seen yet';
  const health: Health = expression === undefined ? healthOf(object) : celHealth(object, expression);
  return health.state === 'healthy' ? undefined : health.message || health.state;
}

function shortKey(plugin: Plugin, key: string): string {
  const own = `${plugin.metadata.namespace ?? ''}/`;
  return key.startsWith(own) ? key.slice(own.length) : key;
}
