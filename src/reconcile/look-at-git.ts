import { EspalierError, messageOf, type Plugin, type Sync } from '../api/index.ts';
import type { GitRepository } from '../git/repository.ts';
import { type Compiled, compile } from './compile.ts';
import { baseOf, historySince } from './history.ts';
import { carryApproval, pullBehind } from './pulls/merged.ts';
import type { Source } from './sources.ts';
import type { SyncMemory } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import { inputsOf, trailOnRecord, trailTo, writtenInputs } from './trail.ts';

/**
 * Asks for the head, fetches what is new and compiles it. Whatever fails here leaves the last good state in force.
 * False while the credentials have not been seen yet: their watch wakes the Sync.
 */
export async function lookAtGit(parts: SyncParts, key: string, sync: Sync, memory: SyncMemory): Promise<boolean> {
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

/**
 * The commit that is in force, for a cluster or a catalogue that has changed since: other versions of Kubernetes make
 * other Plugins of the same files. Asks no Git server. Whatever fails leaves the last good state in force.
 */
export async function compileAnew(parts: SyncParts, key: string, sync: Sync, memory: SyncMemory): Promise<void> {
  const answer = await parts.sources.forSync(sync);
  if (answer.state !== 'open' || memory.compiled === undefined) return;
  const { repository, reader } = answer.source;
  const tree = repository.tree(memory.compiled.commit);
  memory.isStale = false;
  try {
    const plugins = [...parts.plugins.values()];
    memory.compiled = await compile({ sync, tree, reader, plugins, catalogue: parts.catalogue() });
  } catch (error) {
    memory.isStale = true;
    throw error;
  }
  memory.written = false;
  parts.wakeAnswers(key);
  parts.wakePulls(key);
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
  const catalogue = parts.catalogue();
  // What changes from here on is not in it.
  memory.isStale = false;
  const compiled = await compile({ sync, tree: repository.tree(head.commit), reader, plugins, catalogue });
  if (sync.spec.forge?.statuses === true) {
    const before = beforeThat(key, sync, memory, plugins);
    const known = memory.trail ?? trailOnRecord(sync.status?.answers ?? []);
    memory.trail = await trailTo(known, { repository, reader, sync, plugins, catalogue, before, compiled });
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
