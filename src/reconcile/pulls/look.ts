import { isError, type PlannedPull, type Sync, timestamp } from '../../api/index.ts';
import type { Forge, PullRequest } from '../../forge/forge.ts';
import { branchIn } from '../../git/ref.ts';
import { asksFor, type Said } from '../../report/approval.ts';
import { regarding } from '../regarding.ts';
import type { SyncParts } from '../sync-parts.ts';
import { keptName } from './plan-pull.ts';
import { changePulls, pullOnRecord, withPull } from './records.ts';
import { MOVED_DELAY_MS } from './stale.ts';

/**
 * Looks which pull requests are open and asks for a plan of those that moved. What people wrote is read only where
 * something waits for it.
 */
export async function lookAtPulls(
  parts: SyncParts,
  key: string,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const sync = parts.syncs.get(key);
  if (sync === undefined) {
    parts.pulls.forget(key);
    return undefined;
  }
  const branch = branchOf(parts, key);
  const isWanted = sync.spec.forge?.previews === true && !sync.spec.suspend && branch !== undefined;
  const requeueAfterMs = parts.pulls.nextLook(key);
  await parts.troubles.about(
    parts,
    key,
    signal,
    async () => {
      const forge = isWanted ? parts.forges.of(sync) : undefined;
      if (forge === undefined) return;
      const open = (await forge.openPullRequests(signal)).filter(({ base }) => base === branch);
      const wanted: PullRequest[] = [];
      for (const pull of open) {
        if (
          !pull.fromFork ||
          (sync.spec.forge?.forks === 'asked' && (await isAskedFor(parts, key, forge, pull, signal)))
        )
          wanted.push(pull);
      }
      parts.pulls.set(key, wanted);
      await close(parts, key, sync, open);
      for (const pull of wanted) {
        const known = pullOnRecord(parts.syncs.get(key), pull.number);
        if (known?.held === true) await noteApproval(parts, key, forge, pull, known, signal);
        const stale = staleness(parts, key, known, pull);
        if (stale === 'head') parts.wakePull(key, pull.number);
        // While its base is being rolled out, the rollout goes first.
        if (stale === 'base') parts.wakePull(key, pull.number, { after: MOVED_DELAY_MS });
      }
    },
    'pulls',
  );
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs };
}

/** Something that can be seen without planning says that the plan on record is about something else. */
function staleness(
  parts: SyncParts,
  key: string,
  known: PlannedPull | undefined,
  pull: PullRequest,
): 'head' | 'base' | undefined {
  if (known?.facts === undefined || known.closed === true || known.status?.sent !== true) return 'head';
  if (known.head !== pull.head.commit) return 'head';
  return known.base === parts.memories.of(key).compiled?.commit ? undefined : 'base';
}

/** The branch that is followed; undefined for tags and commits, and before the first look. */
function branchOf(parts: SyncParts, key: string): string | undefined {
  const { ref, compiled } = parts.memories.of(key);
  return compiled === undefined ? undefined : branchIn(ref);
}

/** Those that are no longer open: what they showed is kept for a while, for the commit that they may have become. */
async function close(parts: SyncParts, key: string, sync: Sync, open: readonly PullRequest[]): Promise<void> {
  const numbers = new Set(open.map(({ number }) => number));
  const gone = (sync.status?.pullRequests ?? []).filter(
    ({ number, closed }) => closed !== true && !numbers.has(number),
  );
  if (gone.length === 0) return;
  await changePulls(parts, key, (pulls) =>
    pulls.map((pull) => (numbers.has(pull.number) ? pull : { ...pull, closed: true })),
  );
  const answer = await parts.sources.forPulls(sync);
  if (answer.state === 'open') await answer.source.repository.drop(gone.map(({ number }) => keptName(number)));
}

/** From another repository: only for the very head that somebody with rights in this one has named. */
async function isAskedFor(
  parts: SyncParts,
  key: string,
  forge: Forge,
  pull: PullRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const head = pull.head.commit;
  const known = pullOnRecord(parts.syncs.get(key), pull.number);
  if (known?.asked === head) return true;
  const asks = asksFor('plan', await forge.comments(pull.number, signal), head, undefined);
  if ((await firstEntitled(forge, asks, signal)) === undefined) return false;
  await changePulls(parts, key, (pulls) => {
    const before = pulls.find(({ number }) => number === pull.number);
    const empty = { number: pull.number, head, base: '', plugins: [], shown: [] };
    return withPull(pulls, { ...empty, ...before, asked: head });
  });
  return true;
}

async function noteApproval(
  parts: SyncParts,
  key: string,
  forge: Forge,
  pull: PullRequest,
  known: PlannedPull,
  signal: AbortSignal,
): Promise<void> {
  const head = pull.head.commit;
  if (known.head !== head || known.approved?.head === head) return;
  const plannedAt = known.plannedAt === undefined ? undefined : Date.parse(known.plannedAt);
  const voided = known.voided === undefined ? undefined : Date.parse(known.voided);
  const asks = asksFor('approve', await forge.comments(pull.number, signal), head, plannedAt, voided);
  const by = (await firstEntitled(forge, asks, signal))?.author;
  if (by === undefined) return;
  const at = timestamp(Math.max(...asks.map(({ writtenAt }) => writtenAt)));
  await changePulls(parts, key, (pulls) =>
    pulls.map((one) =>
      // What was approved is what was shown when it was read.
      one.number === pull.number && one.head === head ? withApproval(one, by, at) : one,
    ),
  );
  const sync = parts.syncs.get(key);
  if (sync !== undefined)
    parts.events.record({
      regarding: regarding(sync),
      action: 'Approve',
      type: 'Normal',
      reason: 'ApprovedOnForge',
      note: `${by} approved pull request #${pull.number} at ${head}`,
    });
  parts.wakePull(key, pull.number);
}

/** Its comment is to tell of it: without facts it is planned again. */
function withApproval({ facts: _, ...pull }: PlannedPull, by: string, at: string): PlannedPull {
  return { ...pull, approved: { by, head: pull.head, shown: pull.digest ?? '', at } };
}

/** The first who may push, as the forge says now. */
async function firstEntitled(forge: Forge, asks: readonly Said[], signal: AbortSignal): Promise<Said | undefined> {
  for (const ask of asks) {
    try {
      if (await forge.mayWrite(ask.author, signal)) return ask;
    } catch (error) {
      if (!isError(error, 'ForgeRefused')) throw error;
    }
  }
  return undefined;
}
