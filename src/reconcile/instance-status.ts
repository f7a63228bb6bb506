import {
  ANNOTATION,
  CONDITION,
  type Condition,
  type ExtensionInstance,
  type ExtensionInstanceStatus,
  isError,
  type Plugin,
  refOf,
  removeCondition,
  setCondition,
} from '../api/index.ts';
import { shorten } from '../api/one-line.ts';
import type { ResolvedInstance } from '../resolve/catalogue.ts';
import { currentKey } from './current-key.ts';
import { type Readiness, readinessOf } from './readiness.ts';
import { regarding } from './regarding.ts';
import type { SyncParts } from './sync-parts.ts';
import { writeStatus } from './write-status.ts';

const LISTED = 20;
const NOTE_LENGTH = 1000;

export interface InstanceFindings {
  resolved?: ResolvedInstance;
  /** Why its Plugin can't be written, or it can't be removed. */
  refused?: string;
  removing?: string;
}

interface Verdict {
  status: Condition['status'];
  reason: string;
  message: string;
  /** On the way by itself, or waiting for a person. */
  phase: 'reached' | 'busy' | 'stuck';
}

/** Writes what is known of an instance, if that is news. */
export async function saveInstance(parts: SyncParts, key: string, findings: InstanceFindings): Promise<void> {
  const instance = parts.instances.get(key);
  if (instance?.metadata.uid === undefined) return;
  const plugin = parts.plugins.get(key);
  const readiness = readinessOf(plugin, plugin === undefined ? undefined : currentKey(parts, plugin));
  const before = instance.status;
  const after = nextInstanceStatus(instance, findings, plugin, readiness, parts.clock.now());
  try {
    const written = await writeStatus(parts.client, { ...refOf(instance), uid: instance.metadata.uid }, before, after);
    if (written === undefined) return;
    parts.instances.put(written);
  } catch (error) {
    if (isError(error, 'KubeNotFound')) return;
    throw error;
  }
  if (after.version === undefined || before?.version === undefined || after.version === before.version) return;
  parts.events.record({
    regarding: regarding(instance),
    action: 'Upgrade',
    type: 'Normal',
    reason: 'VersionChanged',
    note: shorten(`from ${before.version} to ${after.version}: ${after.why ?? ''}`, NOTE_LENGTH),
  });
}

/** The next status of an instance. Pure; the same findings over the same status change nothing. */
export function nextInstanceStatus(
  instance: ExtensionInstance,
  findings: InstanceFindings,
  plugin: Plugin | undefined,
  readiness: Readiness,
  now: number,
): ExtensionInstanceStatus {
  const { generation } = instance.metadata;
  const { resolved } = findings;
  const next: ExtensionInstanceStatus = { ...instance.status };
  if (generation !== undefined) next.observedGeneration = generation;
  const installed = plugin?.metadata.annotations?.[ANNOTATION.extensionVersion];
  if (installed === undefined) delete next.version;
  else next.version = installed;
  if (plugin === undefined) delete next.plugin;
  else next.plugin = { name: plugin.metadata.name, namespace: plugin.metadata.namespace ?? '' };
  if (resolved !== undefined) {
    next.why = resolved.why;
    next.available = resolved.available.slice(0, LISTED);
    if (next.available.length === 0) delete next.available;
    if (resolved.next === undefined) delete next.next;
    else next.next = resolved.next;
  }
  const verdict = judge(findings, installed, readiness);
  let conditions: Condition[] = instance.status?.conditions ?? [];
  const about = generation === undefined ? {} : { observedGeneration: generation };
  const say = (type: string, status: Condition['status']): void => {
    conditions = setCondition(
      conditions,
      { type, status, reason: verdict.reason, message: verdict.message, ...about },
      now,
    );
  };
  const only = (type: string, isSo: boolean): void => {
    if (isSo) say(type, 'True');
    else conditions = removeCondition(conditions, type);
  };
  say(CONDITION.Ready, verdict.status);
  only(CONDITION.Reconciling, verdict.phase === 'busy');
  only(CONDITION.Stalled, verdict.phase === 'stuck');
  return { ...next, conditions };
}

function judge(
  { resolved, refused, removing }: InstanceFindings,
  installed: string | undefined,
  readiness: Readiness,
): Verdict {
  const no = (reason: string, message: string, phase: Verdict['phase']): Verdict => ({
    ...{ status: 'False', reason, message, phase },
  });
  if (refused !== undefined) return no('Refused', refused, 'stuck');
  if (removing !== undefined) return no('Removing', removing, 'busy');
  if (resolved === undefined) return no('Pending', 'not looked at yet', 'busy');
  const { state, why, next } = resolved;
  if (state === 'refused') return no('InvalidDeclaration', why, 'stuck');
  if (state === 'none') return no('VersionMissing', why, 'stuck');
  if (state === 'left' && next === undefined) return no('VersionMissing', why, 'stuck');
  if (state === 'made' && installed !== resolved.version)
    return no('Progressing', `${resolved.version} is about to be installed`, 'busy');
  if (!readiness.ready) return no('PluginNotReady', `its Plugin ${readiness.why}`, 'busy');
  const waits = next === undefined ? '' : `; ${next.version} waits: ${next.waitsFor}`;
  return {
    status: 'True',
    reason: 'Ready',
    message: `${installed} is installed and healthy${waits}`,
    phase: 'reached',
  };
}
