import { ANNOTATION, EspalierError, isError, messageOf, type Plugin, type Sync } from '../api/index.ts';
import type { GitRepository } from '../git/repository.ts';
import { type Compiled, compile } from './compile.ts';
import { hasDropped, isRemoving } from './dropped.ts';
import { ensureFinalizer } from './finalizer.ts';
import { Forges } from './forges.ts';
import { baseOf, historySince } from './history.ts';
import { hookRefs } from './hooks.ts';
import { pruneRevision } from './prune-revision.ts';
import { carryApproval, pullBehind } from './pulls/merged.ts';
import { regarding } from './regarding.ts';
import { removeSync } from './remove-sync.ts';
import { type Source, Sources } from './sources.ts';
import { keyOf } from './store.ts';
import type { SyncMemory } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import { pluginsOf, reached } from './sync-plugins.ts';
import { nextSyncStatus, type SyncFindings, tally } from './sync-status.ts';
import { inputsOf, trailOnRecord, trailTo, writtenInputs } from './trail.ts';
import { writeRevision } from './write-revision.ts';
import { isSameStatus } from './write-status.ts';

/** One look at one Sync: at Git when that is due, at what it wrote always. */
export async function reconcileSync(parts: SyncParts, key: string, signal: AbortSignal): Promise<undefined> {
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
    ...Sources.refsOf(sync.metadata.namespace ?? '', sync.spec.repository),
    ...Forges.refsOf(sync),
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
    failure = looked.retry;
  } catch (error) {
    if (signal.aborted || isError(error, 'LeaseLost', 'Aborted')) throw error;
    failure = error;
    findings.failure = {
      reason: isError(error) ? error.code : 'Internal',
      message: messageOf(error),
      userMustAct: isError(error) && !error.retry,
    };
  }
  await saveSync(parts, sync, findings, memory);
  if (failure !== undefined) throw failure;
  return undefined;
}

async function look(
  parts: SyncParts,
  key: string,
  sync: Sync,
  memory: SyncMemory,
  findings: SyncFindings,
  signal: AbortSignal,
): Promise<{ retry: unknown } | 'unseen'> {
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
      throw error;
    });
    if (!looked) {
      memory.lookWanted = true;
      return 'unseen';
    }
  }
  const { compiled } = memory;
  if (compiled === undefined) return 'unseen';
  // A look may have written down an approval.
  const current = parts.syncs.get(key) ?? sync;
  findings.observed = { commit: compiled.commit, ...(memory.ref === undefined ? {} : { ref: memory.ref }) };
  const written = await writeRevision(parts, key, current, compiled, memory, signal);
  findings.faults = [...compiled.faults, ...written.faults];
  findings.inventory = written.inventory;
  if (parts.declared.unrenderedOf(key) === undefined) wakeRemovals(parts, key);
  await pruneRevision(parts, { key, sync: current, compiled, memory, inventory: written.inventory, findings });
  memory.removals = findings.removalsWait;
  const isNewCommit = current.status?.commit !== compiled.commit;
  if (isNewCommit) parts.kept.clear(key);
  const kept = parts.kept.of(key);
  if (isNewCommit || kept.length > 0)
    findings.kept = [...new Set([...(isNewCommit ? [] : (current.status?.kept ?? [])), ...kept])];
  findings.commit = compiled.commit;
  return { retry: written.retry };
}

/** Everything of the revision is known: what waited for that before it deletes anything may go on. */
function wakeRemovals(parts: SyncParts, key: string): void {
  for (const plugin of pluginsOf(parts, key))
    if (isRemoving(plugin) || hasDropped(plugin)) parts.wakePlugin(keyOf(plugin));
}

/**
 * Asks for the head, fetches what is new and compiles it. Whatever fails here leaves the last good state in force.
 * False while the credentials have not been seen yet: their watch wakes the Sync.
 */
async function lookAtGit(parts: SyncParts, key: string, sync: Sync, memory: SyncMemory): Promise<boolean> {
  const started = parts.clock.now();
  const seconds = (): number => (parts.clock.now() - started) / 1000;
  const answer = await parts.sources.forSync(sync);
  if (answer.state === 'unseen') return false;
  if (answer.state !== 'open')
    throw new EspalierError('GitAuthFailed', `cannot open the repository: it needs ${answer.why}`);
  const { repository } = answer.source;
  try {
    const head = await repository.resolve(sync.spec.repository.ref ?? {});
    if (memory.compiled?.commit === head.commit && memory.generation === sync.metadata.generation) {
      // A head that could not be read may have gone back to the one before it.
      if (memory.trouble !== undefined) parts.wakeAnswers(key);
      memory.trouble = undefined;
      parts.metrics.fetched('unchanged', seconds());
      return true;
    }
    const compiled = await compileHead(parts, key, sync, answer.source, head, memory).catch((error: unknown) => {
      memory.trouble = { commit: head.commit, message: messageOf(error) };
      parts.wakeAnswers(key);
      throw error;
    });
    await recognise(parts, key, sync, repository, compiled, memory);
    memory.compiled = compiled;
    memory.trouble = undefined;
    memory.written = false;
    // At once: people wait for it, and it is on record before the rollout has anything to write.
    parts.wakeAnswers(key, { after: 0 });
    parts.wakePulls(key);
    memory.committedAt = Date.parse((await repository.commit(head.commit)).committedAt);
    if (sync.metadata.generation !== undefined) memory.generation = sync.metadata.generation;
    if (head.ref !== undefined) memory.ref = head.ref;
    parts.metrics.fetched('fetched', seconds());
    parts.log.info(
      { sync: key, commit: head.commit, faults: compiled.faults.length, ms: Math.round(seconds() * 1000) },
      'commit compiled',
    );
    return true;
  } catch (error) {
    parts.metrics.fetched('failed', seconds());
    throw error;
  }
}

async function compileHead(
  parts: SyncParts,
  key: string,
  sync: Sync,
  { repository, reader }: Source,
  head: { commit: string; ref?: string },
  memory: SyncMemory,
): Promise<Compiled> {
  await repository.fetch(head.commit, head.ref);
  memory.base ??= baseOf(sync);
  memory.history = await historySince(repository, memory.base, head.commit);
  const plugins = [...parts.plugins.values()];
  const compiled = await compile({ sync, tree: repository.tree(head.commit), reader, plugins });
  if (sync.spec.forge?.statuses === true) {
    const before = beforeThat(key, sync, memory, plugins);
    const known = memory.trail ?? trailOnRecord(sync.status?.answers ?? []);
    memory.trail = await trailTo(known, { repository, reader, sync, plugins, before, compiled });
  }
  return compiled;
}

/** Where the commit comes from a pull request: what was consented to there, and what was shown. */
async function recognise(
  parts: SyncParts,
  key: string,
  sync: Sync,
  repository: GitRepository,
  { commit }: Compiled,
  memory: SyncMemory,
): Promise<void> {
  const found = sync.spec.forge?.previews === true ? await pullBehind(sync, repository, commit) : undefined;
  // What happened before this process led was not seen, and can't be compared.
  memory.mergedFrom = found === undefined || memory.compiled === undefined ? undefined : { commit, pull: found.pull };
  if (found?.isExact === true) await carryApproval(parts, key, commit, found.pull);
}

/** What was in force: as it was compiled, or since a restart as it was written. */
function beforeThat(key: string, { status }: Sync, { compiled }: SyncMemory, plugins: readonly Plugin[]) {
  if (compiled !== undefined) return { commit: compiled.commit, inputs: inputsOf(compiled) };
  if (status?.commit === undefined) return undefined;
  return { commit: status.commit, inputs: writtenInputs(key, plugins) };
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
