import { messageOf } from '../api/errors.ts';
import type { InventoryEntry, Plugin } from '../api/index.ts';
import { describeRef, type KubeObject } from '../api/objects.ts';
import { celHealth } from '../cluster/celhealth.ts';
import { type Health, healthOf } from '../cluster/health.ts';
import { isRunOver } from '../plan/once.ts';
import { plain } from '../plan/plain.ts';
import { isDeclared, KEPT, LEAVING } from '../reconcile/records.ts';
import type { TreeNode, TreeState } from './tree-node.ts';

/** An object as the API server told it: there, not there, or why that isn't known. */
export type Found = KubeObject | 'absent' | Error;

/** The node of an object that a Plugin (or, without one, a Sync) has on record. */
export function objectNode(entry: InventoryEntry, live: Found, plugin?: Plugin): TreeNode {
  const { apiVersion, kind, name, namespace } = entry;
  const { state, message } = judge(entry, live, plugin);
  const drift = plugin?.status?.drift?.find(({ object }) => object === describeRef(entry));
  const logs = state === 'failed' && !(live instanceof Error) && live !== 'absent' ? logsOf(plugin, live) : [];
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    state,
    message: plain(message),
    ...(drift === undefined
      ? {}
      : { drift: drift.fields.map((field) => plain(drift.by === undefined ? field : `${field} (${drift.by})`)) }),
    ...(logs.length === 0 ? {} : { logs }),
    children: [],
  };
}

function logsOf(plugin: Plugin | undefined, { metadata }: KubeObject): string[] {
  const found = (plugin?.status?.logs ?? []).filter(({ uid }) => uid === metadata.uid);
  return found.flatMap(({ pod, container, lines, why }) => {
    const from = pod === undefined ? [] : [`${pod}/${container}`];
    const said = why === undefined ? lines : [`no lines: ${why}`];
    return said.map((line) => plain([...from, line].join(': ')));
  });
}

function judge(entry: InventoryEntry, live: Found, plugin: Plugin | undefined): { state: TreeState; message: string } {
  if (live instanceof Error) return { state: 'unknown', message: messageOf(live) };
  if (isRunOver(entry) && isDeclared(entry)) {
    const gone = live === 'absent' ? ', and is gone' : '';
    return { state: 'healthy', message: `ran once for ${entry.once?.key}${gone}` };
  }
  if (live === 'absent') {
    if (entry.applied === LEAVING) return { state: 'missing', message: 'is removed' };
    return { state: 'missing', message: entry.uid === undefined ? 'not created yet' : 'is gone' };
  }
  if (entry.uid !== undefined && live.metadata.uid !== entry.uid) {
    return { state: 'missing', message: 'another object has its name now' };
  }
  const health = healthIn(plugin, live);
  if (entry.applied === LEAVING) return { state: 'terminating', message: 'no longer declared; is being removed' };
  const message = health.state === 'healthy' ? '' : health.message;
  if (entry.applied !== KEPT) return { state: health.state, message };
  return {
    state: health.state,
    message: ['no longer declared, kept by its deletion rule', message].filter(Boolean).join('; '),
  };
}

/** By the Plugin's own rules where it has some for this object. */
function healthIn(plugin: Plugin | undefined, live: KubeObject): Health {
  const check = plugin?.spec.health?.find(
    ({ apiVersion, kind, name }) =>
      apiVersion === live.apiVersion && kind === live.kind && (name === undefined || name === live.metadata.name),
  );
  return check === undefined || live.metadata.deletionTimestamp !== undefined
    ? healthOf(live)
    : celHealth(live, check.ready);
}
