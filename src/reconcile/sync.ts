import { ANNOTATION, isError, messageOf, type Sync } from '../api/index.ts';
import { hasDropped, isRemoving } from './dropped.ts';
import { ensureFinalizer } from './finalizer.ts';
import { forgeRefs } from './forge-options.ts';
import { hookRefs } from './hooks.ts';
import { compileAnew, lookAtGit } from './look-at-git.ts';
import { pruneRevision } from './prune-revision.ts';
import { regarding } from './regarding.ts';
import { removeSync } from './remove-sync.ts';
import { repositoryRefs } from './repository-options.ts';
import { keyOf } from './store.ts';
import type { SyncMemory } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import { pluginsOf, reached } from './sync-plugins.ts';
import { nextSyncStatus, type SyncFindings, tally } from './sync-status.ts';
import { writeRevision } from './write-revision.ts';
import { isSameStatus } from './write-status.ts';

/** One look at one Sync: at Git when that is due, at what it wrote always. */
export async function reconcileSync(
  parts: SyncParts,
  key: string,
  signal: AbortSignal,
): Promise<{ requeueAfterMs: number } | undefined> {
  const sync = parts.syncs.get(key);
  const user = `Sync ${key}`;
  if (sync === undefined) {
    parts.schedules.stop(key);
    parts.outside.use(user, []);
    parts.declared.forgetSync(key);
    parts.memories.forget(key);
    parts.troubles.forget(key);
    parts.wakeAnswers(key);
    return undefined;
  }
  if (sync.metadata.deletionTimestamp !== undefined) return await removeSync(parts, key, sync);
  parts.outside.use(user, [
    ...repositoryRefs(sync.metadata.namespace ?? '', sync.spec.repository),
    ...forgeRefs(sync),
    ...hookRefs(sync),
  ]);
  await ensureFinalizer(parts, sync);
  const memory = parts.memories.of(key);
  if (sync.spec.suspend) {
    parts.schedules.stop(key);
    await saveSync(parts, sync, 'suspended', memory);
    return undefined;
  }
  parts.schedules.follow(key, sync.spec.poll);
  const findings: SyncFindings = {};
  let failure: unknown;
  try {
    const looked = await look(parts, key, sync, memory, findings, signal);
    if (looked === 'unseen') return undefined;
    failure = looked.lost ?? looked.retry;
    if (looked.lost !== undefined) findings.failure = failureOf(looked.lost);
  } catch (error) {
    if (signal.aborted || isError(error, 'LeaseLost', 'Aborted')) throw error;
    failure = error;
    findings.failure = failureOf(error);
  }
  await saveSync(parts, sync, findings, memory);
  if (failure !== undefined) throw failure;
  const until = memory.compiled?.until;
  return until === undefined ? undefined : { requeueAfterMs: Math.max(0, until - parts.clock.now()) };
}

function failureOf(error: unknown): NonNullable<SyncFindings['failure']> {
  return {
    reason: isError(error) ? error.code : 'Internal',
    message: messageOf(error),
    userMustAct: isError(error) && !error.retry,
  };
}

/** `lost`: why Git could not be read, where the revision that is in force was kept up all the same. */
async function look(
  parts: SyncParts,
  key: string,
  sync: Sync,
  memory: SyncMemory,
  findings: SyncFindings,
  signal: AbortSignal,
): Promise<{ retry: unknown; lost?: unknown } | 'unseen'> {
  let lost: unknown;
  const asked = sync.metadata.annotations?.[ANNOTATION.reconcileAt];
  const isDue =
    memory.lookWanted ||
    memory.compiled === undefined ||
    memory.generation !== sync.metadata.generation ||
    (asked !== undefined && asked !== memory.handled);
  if (isDue) {
    // Who asked has been heard, whatever comes of it; the look itself is wanted until it succeeds.
    if (asked !== undefined) memory.handled = asked;
    // Before the look: who wants one while it is under way may have news that it has just missed.
    memory.lookWanted = false;
    const looked = await lookAtGit(parts, key, sync, memory).catch((error: unknown) => {
      memory.lookWanted = true;
      const isInForce = memory.compiled !== undefined && memory.generation === sync.metadata.generation;
      if (!isInForce || signal.aborted || isError(error, 'LeaseLost', 'Aborted')) throw error;
      lost = error;
      return true;
    });
    if (!looked) {
      memory.lookWanted = true;
      return 'unseen';
    }
  }
  if (memory.isStale === true || (memory.compiled?.until ?? Number.POSITIVE_INFINITY) <= parts.clock.now())
    await compileAnew(parts, key, sync, memory);
  const { compiled } = memory;
  if (compiled === undefined) return 'unseen';
  // A look may have written down an approval.
  const current = parts.syncs.get(key) ?? sync;
  if (lost === undefined)
    findings.observed = { commit: compiled.commit, ...(memory.ref === undefined ? {} : { ref: memory.ref }) };
  const written = await writeRevision(parts, key, current, compiled, memory, signal);
  findings.faults = [...compiled.faults, ...written.faults];
  findings.misfits = compiled.misfits;
  findings.inventory = written.inventory;
  if (parts.declared.unrenderedOf(key) === undefined) wakeRemovals(parts, key);
  // What is declared comes back; nothing goes on the word of a revision that may not be the newest.
  if (lost === undefined) {
    await pruneRevision(parts, { key, sync: current, compiled, memory, inventory: written.inventory, findings });
    memory.removals = findings.removalsWait;
  }
  const isNewCommit = current.status?.commit !== compiled.commit;
  if (isNewCommit) parts.kept.clear(key);
  const kept = parts.kept.of(key);
  if (isNewCommit || kept.length > 0)
    findings.kept = [...new Set([...(isNewCommit ? [] : (current.status?.kept ?? [])), ...kept])];
  findings.commit = compiled.commit;
  return { retry: written.retry, lost };
}

/** Everything of the revision is known: what waited for that before it deletes anything may go on. */
function wakeRemovals(parts: SyncParts, key: string): void {
  for (const plugin of pluginsOf(parts, key))
    if (isRemoving(plugin) || hasDropped(plugin)) parts.wakePlugin(keyOf(plugin));
}

async function saveSync(
  parts: SyncParts,
  sync: Sync,
  findings: SyncFindings | 'suspended',
  memory: SyncMemory,
): Promise<void> {
  const key = keyOf(sync);
  const changed = await parts.statuses.change(key, (current) => {
    const counts = tally(pluginsOf(parts, key), (plugin) => reached(parts, plugin));
    const next = nextSyncStatus(current, findings, counts, parts.clock.now(), parts.troubles.of(key));
    return memory.handled === undefined ? next : { ...next, lastHandledReconcileAt: memory.handled };
  });
  if (changed === undefined || isSameStatus(changed.before, changed.after)) return;
  const { before, after } = changed;
  memory.savedAt = parts.clock.now();
  if (before?.phase !== after.phase && after.phase !== undefined && after.phase !== 'Progressing') {
    parts.events.record({
      regarding: regarding(sync),
      action: 'Reconcile',
      type: after.phase === 'Failed' ? 'Warning' : 'Normal',
      reason: after.phase,
      note: after.message ?? after.phase,
    });
  }
}
