import { randomBytes } from 'node:crypto';
import { EspalierError, type Plugin, type PluginRelease, parseDuration } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { MAX_RECORD_BYTES, type Release, type ReleaseStatus, writeRecord } from '../release/record.ts';
import { asAccount } from './account.ts';
import type { Facts } from './facts.ts';
import type { Parts } from './parts.ts';
import {
  createRevision,
  listRecords,
  markRevision,
  ownerLabels,
  type RecordHead,
  type ReleaseName,
  readRevision,
  settleHistory,
  takeRevision,
  updateRevision,
} from './release-records.ts';
import { isRolledBack, nextStep, ROLLBACK_KEY, renderKey } from './release-state.ts';
import type { Rendered } from './rendered.ts';
import { type RenderedRelease, releaseOf, unpackDraft } from './rendered-release.ts';
import { type HooksAnswer, runHooks, timeOf } from './run-hooks.ts';

type Event = 'install' | 'upgrade' | 'rollback';

/** A revision that is to be made, or to be finished. */
export interface ReleaseRun {
  client: KubeClient;
  /** What goes on record in the Plugin's status before the revision's own record is written. */
  intent: PluginRelease;
  event: Event;
  rendered: RenderedRelease;
  heads: readonly RecordHead[];
  /** Somebody else made it, of what is declared now: it gets our labels and nothing else. */
  takes?: true;
  /** Undefined until `openRevision`. */
  record: Release | undefined;
  timeoutMs: number;
}

export type ReleaseAnswer =
  | { state: 'go'; run: ReleaseRun }
  /** Somebody else is at it; or what was rendered is for a revision that somebody else has made meanwhile. */
  | { state: 'wait'; reason: string; message: string; againInMs: number }
  | { state: 'refused'; error: EspalierError };

const LOCKED_RETRY_MS = 3_000;
const COMPLETE: Readonly<Record<Event, string>> = {
  install: 'Install complete',
  upgrade: 'Upgrade complete',
  rollback: 'Rollback complete',
};

/** Finds out what is to be done with the release. Writes nothing, but for ending a try of ours that nobody wants any more. */
export async function prepareRelease(
  parts: Parts,
  plugin: Plugin,
  facts: Facts,
  inputsKey: string,
  { release: rendered }: Rendered,
): Promise<ReleaseAnswer | undefined> {
  if (rendered === undefined) return undefined;
  const client = asAccount(parts.client, facts.account);
  const heads = await listRecords(client, rendered);
  const step = nextStep(plugin, inputsKey, heads, rendered.fromRevision);
  const common = { client, rendered, heads, timeoutMs: parseDuration(plugin.spec.timeout) };
  if (step.step === 'resume') {
    const record = await readRevision(client, rendered, step.head.revision);
    const intent = plugin.status?.release;
    if (record !== undefined && intent !== undefined)
      return { state: 'go', run: { ...common, intent, event: record.espalier?.event ?? 'upgrade', record } };
  }
  if (step.step === 'locked') {
    return {
      state: 'wait',
      reason: 'ReleaseLocked',
      message: lockedBy(rendered, step.head),
      againInMs: LOCKED_RETRY_MS,
    };
  }
  if (step.step === 'foreign') return { state: 'refused', error: foreign(rendered, step.owner) };
  if (step.step === 'take') {
    const attempt = randomBytes(9).toString('hex');
    const intent = { ...releaseOf(plugin), revision: step.head.revision, attempt, key: inputsKey };
    return { state: 'go', run: { ...common, intent, event: 'upgrade', takes: true, record: undefined } };
  }
  if (step.step !== 'begin')
    return { state: 'wait', reason: 'ReleaseChanged', message: 'the release has just changed', againInMs: 200 };
  const isBack = isRolledBack(plugin, inputsKey);
  // Read from the record of somebody who has made another one since: it says nothing any more.
  const isStale = rendered.fromRevision !== undefined && !isBack && !isOurs(heads, rendered.fromRevision);
  if (isStale || (rendered.fromRevision === undefined && rendered.asRevision !== step.revision)) {
    parts.rendered.drop(renderKey(plugin, inputsKey));
    return {
      state: 'wait',
      reason: 'ReleaseChanged',
      message: 'somebody else made a revision meanwhile',
      againInMs: 0,
    };
  }
  if (step.abandoned !== undefined)
    await markRevision(client, rendered, step.abandoned.revision, {
      status: 'failed',
      description: 'given up for a newer declaration',
    });
  const { rolledBack } = plugin.status?.release ?? {};
  const intent: PluginRelease = {
    ...releaseOf(plugin),
    revision: step.revision,
    attempt: randomBytes(9).toString('hex'),
    key: isBack ? ROLLBACK_KEY : inputsKey,
    ...(isBack && rolledBack !== undefined ? { rolledBack } : {}),
  };
  const run: ReleaseRun = { ...common, intent, event: step.event, record: undefined };
  // Packed in a hurry it is larger than it will be; only what may be too large is packed well, to know.
  if (rendered.draft.length > MAX_RECORD_BYTES / 2)
    writeRecord(recordOf(run, timeOf(parts.clock.now()), undefined), {});
  return { state: 'go', run };
}

function isOurs(heads: readonly RecordHead[], revision: number): boolean {
  return heads.some((head) => head.revision === revision && head.owner !== undefined);
}

/** Writes the revision's record as pending, once its intent is on record. False when somebody else was faster. */
export async function openRevision(parts: Parts, plugin: Plugin, run: ReleaseRun): Promise<boolean> {
  const now = timeOf(parts.clock.now());
  const pending = `pending-${run.event}` as ReleaseStatus;
  if (run.record !== undefined) {
    if (run.record.info.status === 'deployed' || run.record.info.status === pending) return true;
    run.record = { ...run.record, info: { ...run.record.info, status: pending, description: 'Trying again' } };
    await updateRevision(run.client, run.record);
    return true;
  }
  if (run.takes === true) {
    run.record = await takeRevision(run.client, run.rendered, run.intent.revision, ownerLabels(plugin, run.intent));
    return run.record !== undefined;
  }
  const before = run.heads.at(-1);
  const first = before === undefined ? undefined : await readRevision(run.client, run.rendered, before.revision);
  run.record = recordOf(run, now, first?.info.first_deployed);
  return (await createRevision(run.client, run.record, ownerLabels(plugin, run.intent))) === 'created';
}

function recordOf(run: ReleaseRun, now: string, firstDeployed: string | undefined): Release {
  const { notes, config = {}, ...draft } = unpackDraft(run.rendered);
  const { name, namespace, revision, rolledBack } = run.intent;
  return {
    name,
    namespace,
    version: revision,
    info: {
      first_deployed: firstDeployed ?? now,
      last_deployed: now,
      status: `pending-${run.event}`,
      description: run.event === 'rollback' ? `Rollback to ${rolledBack?.revision}` : `Preparing ${run.event}`,
      ...(notes === undefined ? {} : { notes }),
    },
    ...draft,
    ...(Object.keys(config).length === 0 ? {} : { config }),
    hooks: run.rendered.hooks.map(({ hook }) => ({ ...hook, last_run: { phase: 'Unknown' } })),
    apply_method: 'ssa',
    espalier: { event: run.event, ran: {} },
  };
}

export async function hooksOf(parts: Parts, run: ReleaseRun, when: 'pre' | 'post' | 'test'): Promise<HooksAnswer> {
  const { record } = run;
  if (record === undefined || record.info.status === 'deployed') return { state: 'done' };
  const hooks = run.rendered.hooks.map(({ hook, object }) => ({
    // As the record has it: what has run stands there.
    hook:
      record.hooks?.find((one) => one.name === hook.name && one.kind === hook.kind && one.path === hook.path) ?? hook,
    object,
  }));
  return await runHooks(
    { client: run.client, record, hooks, timeoutMs: run.timeoutMs, now: parts.clock.now() },
    when === 'test' ? when : `${when}-${run.event}`,
  );
}

export async function finishRevision(parts: Parts, run: ReleaseRun): Promise<void> {
  const { record, client } = run;
  if (record === undefined) return;
  if (record.info.status !== 'deployed') {
    const { espalier: _, ...done } = record;
    const info = {
      ...record.info,
      last_deployed: timeOf(parts.clock.now()),
      status: 'deployed',
      description: COMPLETE[run.event],
    } as const;
    run.record = { ...done, info };
    await updateRevision(client, run.record);
  }
  await settleHistory(client, run.rendered, run.heads, record.version);
}

/** Says on the record that it failed, as Helm would; it may be taken up again. */
export async function failRevision(run: ReleaseRun, why: string): Promise<void> {
  const { record, client } = run;
  if (record === undefined || record.info.status === 'deployed') return;
  const title = `${run.event.charAt(0).toUpperCase()}${run.event.slice(1)}`;
  const description = `${title} "${record.name}" failed: ${why}`;
  if (record.info.status === 'failed' && record.info.description === description) return;
  run.record = { ...record, info: { ...record.info, status: 'failed', description } };
  await updateRevision(client, run.record);
}

export function lockedBy({ name }: ReleaseName, { revision, status }: RecordHead): string {
  return `revision ${revision} of release ${name} is ${status}: somebody else is at work on it, or was stopped while at it. It goes on when that has ended; if nobody is, remove Secret sh.helm.release.v1.${name}.v${revision}`;
}

export function foreign({ name, namespace }: ReleaseName, owner: string | undefined): EspalierError {
  const message =
    owner === undefined
      ? `release ${name} exists in namespace ${namespace} and no Plugin made it; to take it over, set spec.apply.adopt: true (see first what changes: espalier plan), or rename the Plugin`
      : `release ${name} in namespace ${namespace} belongs to Plugin ${owner}; rename one of the two, or give it another namespace`;
  return new EspalierError('ReleaseExists', message, { retry: false });
}
