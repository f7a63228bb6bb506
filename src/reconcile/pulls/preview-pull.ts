import { createHash } from 'node:crypto';
import { type PlannedPull, type SentStatus, type Sync, timestamp } from '../../api/index.ts';
import { shorten } from '../../api/one-line.ts';
import type { Forge, PullRequest } from '../../forge/forge.ts';
import { planText } from '../../plan/text.ts';
import { type Plan, summaryLine, summaryOf } from '../../plan/whole.ts';
import { contentKey } from '../../resolve/key.ts';
import { contextsFor } from '../speaker.ts';
import type { SyncParts } from '../sync-parts.ts';
import { commentOn } from './comment.ts';
import { withGiven } from './given.ts';
import { faultPlan, tryMerge } from './no-merge.ts';
import { type MergedPull, type PullInput, planPull } from './plan-pull.ts';
import { changePulls, pullOnRecord, withPull } from './records.ts';
import { factsFor } from './stale.ts';

/** Objects that are on record of one plan, at most; of larger ones there is only a hash. */
const SHOWN_KEPT = 200;

/** Plans one pull request against the cluster and says so on the forge. Writes nothing to the cluster but its record. */
export async function previewPull(
  parts: SyncParts,
  key: string,
  number: number,
  signal: AbortSignal,
): Promise<undefined> {
  const sync = parts.syncs.get(key);
  const pull = parts.pulls.get(key, number);
  if (sync === undefined) return undefined;
  const wanted = sync.spec.forge?.previews === true && !sync.spec.suspend ? pull : undefined;
  await parts.troubles.about(
    parts,
    key,
    signal,
    async () => {
      const forge = wanted === undefined ? undefined : parts.forges.of(sync);
      if (forge !== undefined && wanted !== undefined) await preview(parts, key, sync, forge, wanted, signal);
    },
    `pull ${number}`,
  );
  return undefined;
}

async function preview(
  parts: SyncParts,
  key: string,
  sync: Sync,
  forge: Forge,
  pull: PullRequest,
  signal: AbortSignal,
): Promise<void> {
  const { compiled, ref } = parts.memories.of(key);
  const kubernetes = parts.kubernetes();
  if (compiled === undefined || kubernetes === undefined) return;
  const known = pullOnRecord(parts.syncs.get(key), pull.number);
  const base = { commit: compiled.commit, ref, compiled };
  const found = await merge(parts, sync, pull, base);
  const touched = found.state === 'merged' ? found.touched : [];
  const facts = factsFor(parts, sync, { head: pull.head.commit, what: contentOf(found), touched, kubernetes });
  const head = pull.head.commit;
  const isSame = known?.facts === facts && known.head === head && known.closed !== true && known.status?.sent === true;
  if (isSame) {
    await changePulls(parts, key, (pulls) => withPull(pulls, { ...known, base: base.commit, ...treeOf(found) }));
    return;
  }
  const { plan, shown } = await planned(parts, sync, pull, found, kubernetes, signal);
  parts.pulls.showPlan(`${key}/${pull.number}`, planText(plan, { full: true }));
  const digest = digestOf(shown);
  const isShown = known?.head === head && known.digest === digest;
  const next: PlannedPull = {
    ...carriedOver(known, head),
    ...treeOf(found),
    number: pull.number,
    head,
    base: base.commit,
    plugins: touched,
    facts,
    held: plan.held.length > 0,
    shown: shown.length > SHOWN_KEPT ? [] : shown,
    digest,
    plannedAt: (isShown ? known.plannedAt : undefined) ?? timestamp(parts.clock.now()),
  };
  const told = voided(next);
  await say(parts, key, sync, forge, pull, told, plan, signal);
}

async function merge(parts: SyncParts, sync: Sync, pull: PullRequest, base: PullInput['base']): Promise<MergedPull> {
  const answer = await parts.sources.forPulls(sync);
  if (answer.state !== 'open')
    return { state: 'unrelated', why: `can't be fetched: the repository needs ${answer.why}` };
  const { repository, reader } = answer.source;
  const catalogue = parts.catalogue(pull.fromFork ? 'untrusted' : undefined);
  return await tryMerge({ repository, reader, sync, plugins: [...parts.plugins.values()], catalogue, pull, base });
}

async function planned(
  parts: SyncParts,
  sync: Sync,
  pull: PullRequest,
  merged: MergedPull,
  kubernetes: string,
  signal: AbortSignal,
): Promise<{ plan: Plan; shown: PlannedPull['shown'] }> {
  if (merged.state !== 'merged') return { plan: faultPlan(sync, pull, merged), shown: [] };
  const { plan, touches } = await withGiven(parts, sync, pull.fromFork, (given) =>
    planPull({
      ...given,
      ...{ client: parts.client, sync, merged, pull, kubernetes, signal },
      plugins: [...parts.plugins.values()],
      isAgent: (object) => parts.isAgent(object),
      onRendered: (kind, ms) => parts.metrics.rendered(kind, ms / 1000),
    }),
  );
  return { plan, shown: touches };
}

/** What the merge would make, as far as that is known without the cluster. */
function contentOf(merged: MergedPull): string {
  if (merged.state === 'merged') return merged.inputs;
  return contentKey(merged.state === 'conflict' ? { conflict: [...merged.paths] } : { why: merged.why });
}

function treeOf(merged: MergedPull): Pick<PlannedPull, 'tree'> {
  return merged.state === 'merged' ? { tree: merged.id } : {};
}

const KEPT_ALWAYS = ['comment', 'body', 'asked'] as const;
/** A new push voids them. */
const KEPT_WITH_HEAD = ['approved', 'voided', 'status'] as const;

/** What is on record of a pull request and outlives its plan. */
function carriedOver(known: PlannedPull | undefined, head: string): Partial<PlannedPull> {
  const fields = [...KEPT_ALWAYS, ...(known?.head === head ? KEPT_WITH_HEAD : [])];
  return Object.fromEntries(fields.flatMap((field) => (known?.[field] === undefined ? [] : [[field, known[field]]])));
}

/** Of everything that a plan showed: an approval holds for this and nothing else. */
function digestOf(shown: PlannedPull['shown']): string {
  return contentKey({ shown: shown.map(({ plugin, object, action, hash }) => [plugin, object, action, hash ?? '']) });
}

/** An approval is for what was shown: where the plan has become another, it is asked for again. */
function voided(pull: PlannedPull): PlannedPull {
  if (pull.approved === undefined || pull.approved.shown === pull.digest) return pull;
  const { approved, ...rest } = pull;
  return { ...rest, voided: approved.at };
}

async function say(
  parts: SyncParts,
  key: string,
  sync: Sync,
  forge: Forge,
  pull: PullRequest,
  next: PlannedPull,
  plan: Plan,
  signal: AbortSignal,
): Promise<void> {
  const contexts = contextsFor(sync, parts.syncs.values());
  const link = parts.pageUrl === undefined ? undefined : `${parts.pageUrl}/plans/${key}/${pull.number}`;
  const comment = commentOn({ plan, pull: next, limits: forge.limits, link, at: timestamp(parts.clock.now()) });
  const body = createHash('sha256').update(comment.content).digest('hex').slice(0, 32);
  const mark = {
    marker: contexts.all,
    body: comment.text,
    ...(next.comment === undefined ? {} : { id: next.comment }),
  };
  const written =
    next.comment !== undefined && next.body === body
      ? next.comment
      : await forge.upsertComment(pull.number, mark, signal);
  const said = { ...next, body, comment: written };
  const status: SentStatus = { context: contexts.plan, ...verdictOf(plan), sent: false };
  const before = said.status;
  const isSaid = before?.sent === true && before.state === status.state && before.description === status.description;
  if (!isSaid) {
    await changePulls(parts, key, (pulls) => withPull(pulls, { ...said, status }));
    const { sent: _, ...told } = status;
    const url = link ?? pull.url;
    await forge.setStatus(pull.head.commit, { ...told, ...(url === '' ? {} : { url }) }, signal);
    parts.metrics.answered();
  }
  await changePulls(parts, key, (pulls) => withPull(pulls, { ...said, status: { ...status, sent: true } }));
}

/** What would not compile, render or be admitted fails; what waits or is held is for people to know. */
function verdictOf(plan: Plan): Pick<SentStatus, 'state' | 'description'> {
  const [fault] = plan.faults;
  const { refused, conflict } = summaryOf(plan);
  if (fault !== undefined) {
    const place = [fault.file, fault.line, fault.column].filter((part) => part !== undefined).join(':');
    const where = place === '' ? (fault.plugin ?? '') : place;
    return { state: 'failure', description: shorten(where === '' ? fault.message : `${where}: ${fault.message}`) };
  }
  return { state: refused + conflict > 0 ? 'failure' : 'success', description: shorten(summaryLine(plan)) };
}
