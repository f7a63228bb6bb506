import { type Plugin, parseDuration } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { isPending, type Release } from '../release/record.ts';
import { clientFor } from './account.ts';
import { placeRecorded } from './finish-rendered.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import { recordedHooks } from './recorded-hooks.ts';
import { listRecords, type RecordHead, readRevision, removeRevisions, updateRevision } from './release-records.ts';
import type { ReadyHook } from './rendered-release.ts';
import { type HooksAnswer, runHooks, timeOf } from './run-hooks.ts';
import { keyOf } from './store.ts';

/** A release on its way out. */
export interface Uninstall {
  client: KubeClient;
  heads: readonly RecordHead[];
  record: Release;
  hooks: readonly ReadyHook[];
  timeoutMs: number;
}

export type UninstallAnswer =
  | { state: 'none' }
  | { state: 'go'; uninstall: Uninstall }
  | { state: 'wait'; verdict: PluginVerdict };

const LOCKED_RETRY_MS = 3_000;

/** Marks the release as going, and runs what its chart wants run before. By its own record: the chart need not be at hand. */
export async function beginUninstall(parts: Parts, plugin: Plugin): Promise<UninstallAnswer> {
  const { release } = plugin.status ?? {};
  if (release === undefined || plugin.spec.deletion.policy === 'orphan') return { state: 'none' };
  const client = clientFor(parts, plugin);
  const heads = await listRecords(client, release);
  const last = heads.at(-1);
  if (last === undefined || !heads.some(({ owner }) => owner === keyOf(plugin))) return { state: 'none' };
  const isOurs = last.revision === release.revision && last.attempt === release.attempt;
  if (isPending(last.status) && !isOurs)
    return wait(
      `somebody else is at work on release ${release.name} (revision ${last.revision} is ${last.status})`,
      LOCKED_RETRY_MS,
    );
  const record = await readRevision(client, release, last.revision);
  if (record === undefined) return wait('the release has just changed', 0);
  const uninstall = {
    client,
    heads,
    record,
    hooks: await placeRecorded(client, record, await recordedHooks(record)),
    timeoutMs: parseDuration(plugin.spec.timeout),
  };
  if (record.info.status !== 'uninstalling') {
    record.info = {
      ...record.info,
      status: 'uninstalling',
      deleted: timeOf(parts.clock.now()),
      description: 'Deletion in progress (or silently failed)',
    };
    await updateRevision(client, record);
  }
  const answer = await run(parts, uninstall, 'pre-delete');
  return answer.state === 'done' ? { state: 'go', uninstall } : wait(answer.why, answer.againInMs);
}

/** After its objects are gone: what the chart wants run then, and the end of its records. Undefined when all is done. */
export async function endUninstall(parts: Parts, answer: UninstallAnswer): Promise<PluginVerdict | undefined> {
  if (answer.state !== 'go') return undefined;
  const { uninstall } = answer;
  const hooks = await run(parts, uninstall, 'post-delete');
  if (hooks.state === 'waiting') return waitVerdict(hooks.why, hooks.againInMs);
  await removeRevisions(uninstall.client, uninstall.record, uninstall.heads);
  return undefined;
}

async function run(parts: Parts, uninstall: Uninstall, event: 'pre-delete' | 'post-delete'): Promise<HooksAnswer> {
  const { client, record, hooks, timeoutMs } = uninstall;
  return await runHooks({ client, record, hooks, timeoutMs, now: parts.clock.now() }, event);
}

function wait(message: string, againInMs: number): UninstallAnswer {
  return { state: 'wait', verdict: waitVerdict(message, againInMs) };
}

function waitVerdict(message: string, againInMs: number): PluginVerdict {
  return { outcome: { phase: 'Removing', message: `waits for ${message}` }, findings: {}, againInMs };
}
