import { ANNOTATION, isError, type Plugin, type PluginStatus, refOf } from '../api/index.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import { nextPluginStatus } from './plugin-status.ts';
import { regarding } from './regarding.ts';
import { writeStatus } from './write-status.ts';

/**
 * Writes what a look at a Plugin found, if it says anything new, and tells about changes of phase by an Event. The
 * answer goes straight to the store, so that whoever depends on it need not wait for the watch.
 */
export async function saveStatus(
  parts: Parts,
  key: string,
  verdict: Pick<PluginVerdict, 'outcome' | 'findings'>,
): Promise<void> {
  const plugin = parts.plugins.get(key);
  if (plugin?.metadata.uid === undefined) return;
  const before = plugin.status;
  const after = nextPluginStatus(plugin, verdict.outcome, verdict.findings, parts.clock.now());
  const asked = plugin.metadata.annotations?.[ANNOTATION.reconcileAt];
  if (asked !== undefined) after.lastHandledReconcileAt = asked;
  try {
    const written = await writeStatus(parts.client, { ...refOf(plugin), uid: plugin.metadata.uid }, before, after);
    if (written === undefined) return;
    parts.plugins.put(written);
  } catch (error) {
    // Deleted or replaced meanwhile: the watch brings the news, and there is nobody left to tell.
    if (isError(error, 'KubeNotFound', 'KubeConflict')) return;
    throw error;
  }
  announce(parts, plugin, before, after);
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
