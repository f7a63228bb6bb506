import {
  CONDITION,
  describeRef,
  findCondition,
  type KubeObject,
  type ObjectRef,
  type Plugin,
  parseDuration,
} from '../api/index.ts';
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
  /** Of the first of them. */
  reason: 'DependencyNotReady' | 'GateClosed' | 'WindowClosed';
  /** When time alone ends a wait, or makes it too long. */
  until?: number;
  /** Why that will never be. */
  circle?: string;
  /** Gates that somebody should have opened by now. */
  overdue: string[];
}

/** What a change of this Plugin has to wait for. Looks only at what is already in memory. */
export function waitsOf({ plugin, pluginReadiness, outside, now }: WaitsInput): Waits {
  const waits: Waits = { for: [], reason: 'DependencyNotReady', overdue: [] };
  for (const key of dependenciesOf(plugin)) {
    const readiness = pluginReadiness(key);
    if (!readiness.ready) waits.for.push(`${shortKey(plugin, key)}: ${readiness.why}`);
  }
  for (const dependency of plugin.spec.dependsOn ?? []) {
    const ref = objectDependency(plugin, dependency);
    if (ref === undefined) continue;
    const why = notReady(outside(ref), dependency.ready);
    if (why !== undefined) waits.for.push(`${nameOf(dependency)}: ${why}`);
  }
  if (waits.for.length === 0) waits.reason = 'GateClosed';
  for (const gate of plugin.spec.gates ?? []) addGate(waits, gate, plugin, outside(absolute(plugin, gate)), now);
  if (waits.for.length === 0) waits.reason = 'WindowClosed';
  const window = plugin.spec.when?.window;
  if (window !== undefined) {
    const state = windowOpen(window, now);
    if (!state.open) {
      waits.for.push(`its window, which opens at ${new Date(state.opensAt).toISOString()}`);
      lookBy(waits, state.opensAt);
    }
  }
  return waits;
}

/** Objects that must be watched to know the answer. */
export function outsideRefs(plugin: Plugin): ObjectRef[] {
  const dependencies = (plugin.spec.dependsOn ?? []).map((dependency) => objectDependency(plugin, dependency));
  return [
    ...dependencies.filter((ref) => ref !== undefined),
    ...(plugin.spec.gates ?? []).map((gate) => absolute(plugin, gate)),
  ];
}

type Dependency = NonNullable<Plugin['spec']['dependsOn']>[number];
type Gate = NonNullable<Plugin['spec']['gates']>[number];

function addGate(
  waits: Waits,
  gate: Gate,
  plugin: Plugin,
  object: KubeObject | 'absent' | 'unknown',
  now: number,
): void {
  if (typeof object !== 'string' && conditionIsTrue(object, gate.condition)) return;
  const name = nameOf(gate);
  if (typeof object === 'string') waits.for.push(`${name}: ${object === 'absent' ? 'does not exist' : 'not seen yet'}`);
  else waits.for.push(`${name}: condition ${gate.condition} is not true`);
  const since = findCondition(plugin.status?.conditions, CONDITION.Waiting)?.lastTransitionTime;
  if (gate.timeout === undefined) return;
  const until = (since === undefined ? now : Date.parse(since)) + parseDuration(gate.timeout);
  if (until > now) lookBy(waits, until);
  else waits.overdue.push(`${name} did not become ${gate.condition} within ${gate.timeout}`);
}

function lookBy(waits: Waits, time: number): void {
  waits.until = Math.min(time, waits.until ?? time);
}

function objectDependency(plugin: Plugin, dependency: Dependency): ObjectRef | undefined {
  const { apiVersion, kind, name, namespace } = dependency;
  if (apiVersion === undefined || kind === undefined || kind === 'Plugin' || name === undefined) return undefined;
  return absolute(plugin, { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
}

/** Without a namespace the Plugin's own is meant; where the kind has none, nobody asks for it. */
function absolute(plugin: Plugin, { apiVersion, kind, name, namespace }: ObjectRef): ObjectRef {
  return { apiVersion, kind, name, namespace: namespace ?? plugin.metadata.namespace ?? '' };
}

/** As people wrote it. */
function nameOf({ kind = '', name = '', namespace }: Pick<Dependency, 'kind' | 'name' | 'namespace'>): string {
  return describeRef(namespace === undefined ? { kind, name } : { kind, name, namespace });
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
