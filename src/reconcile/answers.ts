import type { Answer, Sync } from '../api/index.ts';
import type { Forge } from '../forge/forge.ts';
import type { Drifted } from '../report/drift.ts';
import { paceOf } from '../report/pace.ts';
import { alongTrail, confirm, findSaid, unsureCommits, withStatus } from '../report/record.ts';
import { type ToSay, whatToSay } from '../report/say.ts';
import type { Step } from '../report/trail.ts';
import type { Verdict } from '../report/verdict.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { driftedIn, headFacts } from './commit-facts.ts';
import { contextsFor } from './speaker.ts';
import type { SyncParts } from './sync-parts.ts';
import { trailOnRecord } from './trail.ts';

/**
 * Tells the forge what became of the commits of a Sync. What is to be said is computed from how things are now, so
 * after an outage the newest state is sent and nothing else; what was said is on record, so nothing is said twice.
 */
export async function answerSync(
  parts: SyncParts,
  key: string,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const sync = parts.syncs.get(key);
  if (sync === undefined) {
    parts.answers.forget(key);
    parts.forges.forget(key);
    return undefined;
  }
  const { spec, metadata } = sync;
  const isWanted = spec.forge?.statuses === true && !spec.suspend && metadata.deletionTimestamp === undefined;
  // Also where nothing is wanted any more: then no trouble is left.
  return await parts.troubles.about(parts, key, signal, async () => {
    const forge = isWanted ? parts.forges.of(sync) : undefined;
    return forge === undefined ? undefined : await answer(parts, key, sync, forge, signal);
  });
}

async function answer(
  parts: SyncParts,
  key: string,
  sync: Sync,
  forge: Forge,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const memory = parts.answers.of(key);
  const onRecord = memory.record(sync) ?? sync.status?.answers ?? [];
  const known = await confirmed(forge, onRecord, signal);
  const trail = trailOf(parts, key, known);
  const repaired = parts.repaired.of(key);
  const toSay = trail === undefined ? undefined : allToSay(parts, key, sync, trail, repaired, known);
  if (trail === undefined || toSay === undefined) return undefined;
  const { due, againInMs } = dueNow(memory, toSay, known, parts.clock.now());
  let record = alongTrail(known, trail);
  memory.remember(sync, record);
  if (due.length > 0) {
    // On record before it is sent: when this breaks off, the forge is asked what has reached it.
    for (const one of due) record = withStatus(record, one.commit, statusOf(one, false));
    memory.remember(sync, record);
    await saveAnswers(parts, key, record);
    for (const one of due) {
      await forge.setStatus(one.commit, { ...said(one), ...pageOf(parts, key) }, signal);
      memory.said(placeOf(one), parts.clock.now());
      parts.metrics.answered();
      record = withStatus(record, one.commit, statusOf(one, true));
      memory.remember(sync, record);
    }
  }
  parts.repaired.told(key, repaired);
  // That it has arrived is not urgent: what is said next is put on record together with it.
  const restMs = memory.restMs(parts.clock.now());
  if (restMs === 0) await saveAnswers(parts, key, record);
  return comeBack(againInMs, restMs === 0 ? undefined : restMs);
}

function comeBack(...waits: (number | undefined)[]): { requeueAfterMs: number } | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : { requeueAfterMs: Math.min(...known) };
}

/** What may or may not have arrived when an earlier delivery broke off: the forge knows. */
async function confirmed(forge: Forge, onRecord: readonly Answer[], signal: AbortSignal): Promise<readonly Answer[]> {
  let record = onRecord;
  for (const commit of unsureCommits(onRecord)) record = confirm(record, commit, await forge.statuses(commit, signal));
  return record;
}

function trailOf(parts: SyncParts, key: string, record: readonly Answer[]): readonly Step[] | undefined {
  const { trail, compiled, trouble } = parts.memories.of(key);
  const head = trouble?.commit ?? compiled?.commit;
  if (head === undefined) return undefined;
  const known = trail ?? trailOnRecord(record);
  return known[0]?.commit === head ? known : [{ commit: head, plugins: [] }, ...known];
}

function allToSay(
  parts: SyncParts,
  key: string,
  sync: Sync,
  trail: readonly Step[],
  repaired: readonly Drifted[],
  record: readonly Answer[],
): ToSay[] | undefined {
  const facts = headFacts(parts, key, sync);
  if (facts === undefined) return undefined;
  return whatToSay({
    contexts: contextsFor(sync, parts.syncs.values()),
    facts,
    trail,
    pluginStatuses: sync.spec.forge?.pluginStatuses ?? false,
    drifted: driftedIn(parts, key),
    repaired,
    said: (commit, context) => findSaid(record, commit, context),
  });
}

interface Due {
  commit: string;
  context: string;
  verdict: Verdict;
}

/** What is to be said at once, and when to come back for the rest. */
function dueNow(
  memory: AnswerMemory,
  toSay: readonly ToSay[],
  record: readonly Answer[],
  now: number,
): { due: Due[]; againInMs: number | undefined } {
  const due: Due[] = [];
  let againInMs: number | undefined;
  memory.keep(new Set(toSay.map(placeOf)));
  for (const one of toSay) {
    let before = findSaid(record, one.commit, one.context);
    for (const next of one.verdicts) {
      const pace = paceOf({ before, next, isSure: one.isSure, ...memory.timing(placeOf(one), next, now) });
      if (pace === 'never') continue;
      if (pace.inMs > 0) {
        againInMs = Math.min(againInMs ?? pace.inMs, pace.inMs);
        break;
      }
      due.push({ commit: one.commit, context: one.context, verdict: next });
      before = next;
    }
  }
  return { due, againInMs };
}

function placeOf({ commit, context }: Pick<Due, 'commit' | 'context'>): string {
  return `${commit} ${context}`;
}

function said({ context, verdict }: Due) {
  return { context, ...verdict };
}

function statusOf(one: Due, sent: boolean) {
  return { ...said(one), sent };
}

function pageOf({ pageUrl }: SyncParts, key: string): { url?: string } {
  return pageUrl === undefined ? {} : { url: `${pageUrl}/syncs/${key}` };
}

async function saveAnswers(parts: SyncParts, key: string, answers: Answer[]): Promise<void> {
  await parts.statuses.change(key, ({ status }) => ({ ...status, answers }));
}
