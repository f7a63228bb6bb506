import { isError, type Plugin, type PluginStatus, refOf } from '../api/index.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import { nextPluginStatus } from './plugin-status.ts';
import { regarding } from './regarding.ts';
import { writeStatus } from './write-status.ts';

/**
 * Writes what a look at a Plugin found, if it says anything new, and tells about changes of phase by an Event. The
 * answer goes straight to the store, so that whoever depends on it need not wait for the watch. `gone`: there is no
 * such Plugin any more, and nothing may be done in its name.
 */
export async function saveStatus(
  parts: Parts,
  key: string,
  verdict: Pick<PluginVerdict, 'outcome' | 'findings'>,
  /** The `reconcile-at` that this look has answered. */
  answered?: string,
): Promise<'saved' | 'gone'> {
  const plugin = parts.plugins.get(key);
  if (plugin?.metadata.uid === undefined) return 'gone';
  const before = plugin.status;
  const after = nextPluginStatus(plugin, verdict.outcome, verdict.findings, parts.clock.now());
  if (answered !== undefined) after.lastHandledReconcileAt = answered;
  try {
    const { uid, resourceVersion } = plugin.metadata;
    const owner = { ...refOf(plugin), uid, resourceVersion };
    const written = await writeStatus(parts.client, owner, parts.intents.statusInCluster(plugin), after);
    if (written === undefined) return 'saved';
    parts.plugins.put(written);
  } catch (error) {
    // The watch brings the news. A conflict may mean the same, or just that others write too: that is tried again.
    if (isError(error, 'KubeNotFound')) return 'gone';
    throw error;
  }
  announce(parts, plugin, before, after);
  announceDrift(parts, plugin, before, after);
  return 'saved';
}

function announce(parts: Parts, plugin: Plugin, before: PluginStatus | undefined, after: PluginStatus): void {
  if (
    after.phase === undefined ||
    (before?.phase === after.phase && (after.phase !== 'Failed' || before.message === after.message))
  )
    return;
  if (after.phase === 'Progressing' || after.phase === 'Pending') return;
  const type = after.phase === 'Failed' ? 'Warning' : 'Normal';
  parts.events.record({
    regarding: regarding(plugin),
    action: 'Reconcile',
    type,
    reason: after.phase,
    note: after.message ?? after.phase,
  });
}

/** Once for each object, when it begins to differ: what is repaired says so itself. */
function announceDrift(parts: Parts, plugin: Plugin, before: PluginStatus | undefined, after: PluginStatus): void {
  const known = new Set((before?.drift ?? []).map(({ object }) => object));
  for (const { object, fields, by } of after.drift ?? []) {
    if (known.has(object)) continue;
    parts.metrics.repaired('report', fields.length);
    const note = `${object}: ${fields.join(', ')}${by === undefined ? '' : ` (changed by ${by})`}`;
    parts.events.record({ regarding: regarding(plugin), action: 'Compare', type: 'Warning', reason: 'Drifted', note });
  }
}
