import { EspalierError, isError, messageOf, type Plugin, refKey, refOf } from '../api/index.ts';
import type { ApplyTask } from '../converge/apply.ts';
import { clientFor } from './account.ts';
import { withoutSecrets } from './hide-secrets.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import type { PluginFindings, PluginOutcome } from './plugin-status.ts';
import { listRecords, removeRevisions } from './release-records.ts';
import type { Rendered } from './rendered.ts';
import { failRevision, finishRevision, hooksOf, type ReleaseAnswer, type ReleaseRun } from './run-release.ts';

/** Somebody else has the release, or it has changed under us. */
export function releaseWaits(
  answer: Extract<ReleaseAnswer, { state: 'wait' }>,
  findings: PluginFindings,
): PluginVerdict {
  const { reason, message, againInMs } = answer;
  const outcome: PluginOutcome =
    reason === 'ReleaseLocked'
      ? { phase: 'Waiting', reason, waitingFor: [message] }
      : { phase: 'Progressing', message };
  return { outcome, findings, againInMs };
}

/** What must be there before the record of a release can be: its namespace, and the kinds that its hooks may be of. */
export function splitTasks(
  tasks: readonly ApplyTask[],
  rendered: Rendered,
): { early: ApplyTask[]; later: ApplyTask[] } {
  const isEarly = ({ object }: ApplyTask) => {
    const at = refKey(refOf(object));
    return rendered.ensure.has(at) || rendered.definitions.has(at);
  };
  return { early: tasks.filter(isEarly), later: tasks.filter((task) => !isEarly(task)) };
}

/**
 * Runs the hooks that come before or after the objects. Undefined when they are through. A failure comes with what has
 * been written so far: what the record does not know would not be taken back.
 */
export async function hooksVerdict(
  parts: Parts,
  run: ReleaseRun,
  when: 'pre' | 'post' | 'test',
  findings: PluginFindings,
): Promise<PluginVerdict | undefined> {
  const answer = await hooksOf(parts, run, when).catch((error: unknown) => {
    if (!isError(error, 'HookFailed')) throw error;
    return error;
  });
  if (answer instanceof EspalierError) {
    const { code: reason, message } = answer;
    return {
      outcome: { phase: 'Failed', reason, message, userMustAct: false, applied: false },
      findings,
      error: answer,
    };
  }
  if (answer.state === 'done') return undefined;
  return {
    outcome: { phase: 'Progressing', message: `waits for ${answer.why}` },
    findings,
    againInMs: answer.againInMs,
  };
}

/**
 * A revision that failed: says so on its record, and what follows. Trying again is the rule; where the declaration wants
 * it, the failure is kept as it is, or taken back.
 */
export async function afterFailure(
  plugin: Plugin,
  run: ReleaseRun,
  inputsKey: string,
  verdict: PluginVerdict,
  secrets: readonly string[],
): Promise<PluginVerdict> {
  const told =
    verdict.outcome !== undefined && 'message' in verdict.outcome ? verdict.outcome.message : messageOf(verdict.error);
  const why = messageOf(withoutSecrets(new EspalierError('ApplyFailed', told), secrets));
  await failRevision(run, why);
  const { onFailure } = plugin.spec.upgrade;
  if (onFailure === 'retry' || (run.event === 'install' && onFailure === 'rollback')) return verdict;
  const { error: _, ...rest } = verdict;
  const { rolledBack: __, ...release } = run.intent;
  if (onFailure === 'keep') {
    return { ...rest, findings: { ...verdict.findings, release: { ...release, gaveUp: { key: inputsKey, why } } } };
  }
  const target = rollbackTarget(plugin, run);
  // What was rolled back to can fail as well; then there is nothing better than to try again.
  if (target === undefined || run.event === 'rollback') return verdict;
  const rolledBack = { key: inputsKey, revision: target, why };
  return { ...rest, findings: { ...verdict.findings, release: { ...release, rolledBack } }, againInMs: 0 };
}

/** The last revision that was well, as far as its record still exists. */
export function rollbackTarget(
  plugin: Plugin,
  { heads, intent }: Pick<ReleaseRun, 'heads' | 'intent'>,
): number | undefined {
  const wasReady = (plugin.status?.history ?? [])
    .filter(({ outcome }) => outcome === 'Ready')
    .map(({ revision }) => revision);
  const older = heads.filter(
    ({ revision, status }) => revision < intent.revision && (status === 'deployed' || status === 'superseded'),
  );
  return (
    older.findLast(({ revision }) => wasReady.includes(revision)) ??
    older.findLast(({ status }) => status === 'deployed')
  )?.revision;
}

/** The post hooks, the chart's tests where they are asked for, and the record's end. Undefined when all is done. */
export async function concludeRelease(
  parts: Parts,
  plugin: Plugin,
  run: ReleaseRun,
  findings: PluginFindings,
): Promise<PluginVerdict | undefined> {
  const waits = await hooksVerdict(parts, run, 'post', findings);
  if (waits !== undefined) return waits;
  const tests = plugin.spec.upgrade.test ? await hooksVerdict(parts, run, 'test', findings) : undefined;
  if (tests !== undefined) return tests;
  await finishRevision(parts, run);
  return undefined;
}

/** A Plugin that is no Helm release any more: its records go, while its objects are what is declared now. */
export async function leaveRelease(parts: Parts, plugin: Plugin): Promise<PluginFindings> {
  const { release } = plugin.status ?? {};
  if (release === undefined || plugin.spec.kind === 'helm') return {};
  const client = clientFor(parts, plugin);
  const heads = await listRecords(client, release);
  if (heads.some((head) => head.attempt === release.attempt)) await removeRevisions(client, release, heads);
  return { release: 'none' };
}
