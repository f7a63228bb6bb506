import {
  type Dependency,
  describeRef,
  describeSelection,
  type KubeObject,
  type ObjectRef,
  type Plugin,
} from '../api/index.ts';
import { celHealth } from '../cluster/celhealth.ts';
import { type Health, healthOf } from '../cluster/health.ts';
import { windowOpen } from '../runtime/cron.ts';
import { dependenciesOf } from './dependents.ts';
import { atGatesSince, closedGate } from './gates.ts';
import type { Readiness } from './readiness.ts';
import type { WatchedSelection } from './selections.ts';

export interface WaitsInput {
  plugin: Plugin;
  /** Of a Plugin named by its key. */
  pluginReadiness(key: string): Readiness;
  outside(ref: ObjectRef): KubeObject | 'absent' | 'unknown';
  /** Why not all objects of a kind are ready. */
  selected(selection: WatchedSelection): string | undefined;
  now: number;
  /** Nobody waits yet: this is what will be waited for. */
  isPreview?: true;
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
export function waitsOf({ plugin, now, isPreview, ...see }: WaitsInput): Waits {
  const waits: Waits = { for: [], reason: 'DependencyNotReady', overdue: [] };
  for (const key of dependenciesOf(plugin)) {
    const readiness = see.pluginReadiness(key);
    if (!readiness.ready) waits.for.push(`${shortKey(plugin, key)}: ${readiness.why}`);
  }
  for (const dependency of plugin.spec.dependsOn ?? []) {
    const ref = objectDependency(plugin, dependency);
    const selection = selectionOf(plugin, dependency);
    if (ref !== undefined) addWait(waits, nameOf(dependency), notReady(see.outside(ref), dependency.ready));
    if (selection !== undefined) addWait(waits, nameOf(dependency), see.selected(selection));
  }
  const isAtGates = waits.for.length === 0;
  if (isAtGates) waits.reason = 'GateClosed';
  const since = isAtGates && isPreview !== true ? (atGatesSince(plugin) ?? now) : undefined;
  for (const gate of plugin.spec.gates ?? []) {
    const closed = closedGate({ gate, object: see.outside(absolute(plugin, gate)), since, now });
    if (closed === undefined) continue;
    waits.for.push(closed.text);
    if (closed.until !== undefined) lookBy(waits, closed.until);
    if (closed.overdue !== undefined) waits.overdue.push(closed.overdue);
  }
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

/** Selections whose objects must be known to know the answer. */
export function selectionsOf(plugin: Plugin): WatchedSelection[] {
  return (plugin.spec.dependsOn ?? []).flatMap((dependency) => selectionOf(plugin, dependency) ?? []);
}

function addWait(waits: Waits, name: string, why: string | undefined): void {
  if (why !== undefined) waits.for.push(`${name}: ${why}`);
}

function lookBy(waits: Waits, time: number): void {
  waits.until = Math.min(time, waits.until ?? time);
}

function objectDependency(plugin: Plugin, { apiVersion, kind, name, namespace }: Dependency): ObjectRef | undefined {
  if (apiVersion === undefined || kind === undefined || kind === 'Plugin' || name === undefined) return undefined;
  return absolute(plugin, { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) });
}

/** `absolute` of every object of a kind. */
function selectionOf(plugin: Plugin, dependency: Dependency): WatchedSelection | undefined {
  const { all, apiVersion, kind, labels = {}, ready } = dependency;
  if (all !== true || apiVersion === undefined || kind === undefined) return undefined;
  const namespace = dependency.namespace ?? plugin.metadata.namespace ?? '';
  return { apiVersion, kind, namespace, labels, ...(ready === undefined ? {} : { ready }) };
}

/** Without a namespace the Plugin's own is meant; where the kind has none, nobody asks for it. */
function absolute(plugin: Plugin, { apiVersion, kind, name, namespace }: ObjectRef): ObjectRef {
  return { apiVersion, kind, name, namespace: namespace ?? plugin.metadata.namespace ?? '' };
}

/** As people wrote it. */
function nameOf({ kind = '', name, namespace, labels }: Dependency): string {
  const place = namespace === undefined ? { kind } : { kind, namespace };
  if (name !== undefined) return describeRef({ ...place, name });
  return describeSelection(labels === undefined ? place : { ...place, labels });
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
