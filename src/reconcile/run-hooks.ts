import {
  type Condition,
  describeRef,
  EspalierError,
  HELM_MANAGER,
  type KubeObject,
  type ObjectRef,
  refOf,
} from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { deletesHook, hooksFor } from '../release/hooks.ts';
import type { Hook, HookEvent, Release } from '../release/record.ts';
import { updateRevision } from './release-records.ts';
import type { ReadyHook } from './rendered-release.ts';

export interface HookRunInput {
  client: KubeClient;
  /** Its hooks and what has run are kept up to date in it, and written before anything happens. */
  record: Release;
  hooks: readonly ReadyHook[];
  timeoutMs: number;
  now: number;
}

export type HooksAnswer = { state: 'done' } | { state: 'waiting'; why: string; againInMs: number };

const SOON_MS = 200;
const LATEST_MS = 2_000;

/**
 * Runs the hooks of an event one after the other, as Helm does, as far as it goes without waiting. What has run is on
 * record: called again, it goes on where it was, and no hook that succeeded runs a second time. Throws when one failed.
 */
export async function runHooks(input: HookRunInput, event: HookEvent): Promise<HooksAnswer> {
  const { record, hooks, client } = input;
  const due = hooksFor(
    hooks.map(({ hook }) => hook),
    event,
  );
  const all = `${event}: all`;
  const ran = ranFor(record, event);
  if (due.length === 0 || ran.includes(all)) return { state: 'done' };
  for (const hook of due) {
    if (ran.includes(nameOf(hook))) continue;
    const object = hooks.find((one) => one.hook === hook)?.object;
    if (object === undefined) continue;
    const answer = await runOne(input, event, hook, object);
    if (answer.state === 'waiting') return answer;
    if (answer.state === 'failed') {
      await cleanUp(client, input.hooks, [hook], 'hook-failed');
      await cleanUp(client, input.hooks, due.slice(0, due.indexOf(hook)).reverse(), 'hook-succeeded');
      throw new EspalierError('HookFailed', `${event} hook ${describeRef(refOf(object))} failed: ${answer.why}`, {
        data: { hook: hook.name, event },
      });
    }
    ran.push(nameOf(hook));
  }
  const doomed = due.filter((hook) => deletesHook(hook, 'hook-succeeded')).reverse();
  if (doomed.length > 0) {
    // On record before they go: what is gone without a word would have to be taken for something that never ran.
    await updateRevision(client, record);
    await cleanUp(client, input.hooks, doomed, 'hook-succeeded');
  }
  ran.push(all);
  await updateRevision(client, record);
  return { state: 'done' };
}

type Answer = HooksAnswer | { state: 'failed'; why: string };

async function runOne(input: HookRunInput, event: HookEvent, hook: Hook, object: KubeObject): Promise<Answer> {
  const { client, record, now } = input;
  const ref = refOf(object);
  const running = `${nameOf(hook)} runs`;
  const ran = ranFor(record, event);
  let live = await client.get(ref);
  if (!ran.includes(running)) {
    if (live !== undefined && deletesHook(hook, 'before-hook-creation')) {
      await client.delete(ref, { uid: live.metadata.uid ?? '', propagation: 'Background' });
      live = await client.get(ref);
      if (live !== undefined)
        return { state: 'waiting', why: `${describeRef(ref)} of before to be gone`, againInMs: SOON_MS };
    }
    ran.push(running);
    hook.last_run = { started_at: timeOf(now), phase: 'Running' };
    record.hooks = hooksOf(input);
    await updateRevision(client, record);
    live = await client.apply(object, { fieldManager: HELM_MANAGER });
  } else {
    live ??= await client.apply(object, { fieldManager: HELM_MANAGER });
  }
  const outcome = outcomeOf(live);
  if (outcome.state !== 'running') {
    hook.last_run = {
      ...hook.last_run,
      completed_at: timeOf(now),
      phase: outcome.state === 'done' ? 'Succeeded' : 'Failed',
    };
    record.hooks = hooksOf(input);
    if (outcome.state === 'done') return outcome;
    forget(record, event, hook);
    await updateRevision(client, record);
    return outcome;
  }
  const since = now - Date.parse(hook.last_run?.started_at ?? timeOf(now));
  if (since > input.timeoutMs) {
    hook.last_run = { ...hook.last_run, phase: 'Failed' } as NonNullable<Hook['last_run']>;
    record.hooks = hooksOf(input);
    forget(record, event, hook);
    await updateRevision(client, record);
    return { state: 'failed', why: `it did not end within ${Math.round(input.timeoutMs / 1000)} s` };
  }
  const againInMs = Math.min(LATEST_MS, Math.max(SOON_MS, since / 4));
  return { state: 'waiting', why: `${event} hook ${describeRef(ref)}`, againInMs };
}

/** Runs again at the next try. */
function forget(record: Release, event: HookEvent, hook: Hook): void {
  const ran = ranFor(record, event);
  ran.splice(ran.indexOf(`${nameOf(hook)} runs`), 1);
}

function ranFor(record: Release, event: HookEvent): string[] {
  record.espalier ??= { ran: {} };
  record.espalier.ran[event] ??= [];
  return record.espalier.ran[event];
}

function hooksOf({ hooks }: HookRunInput): Hook[] {
  return hooks.map(({ hook }) => hook);
}

function nameOf(hook: Hook): string {
  return `${hook.kind} ${hook.name} (${hook.path})`;
}

async function cleanUp(
  client: KubeClient,
  all: readonly ReadyHook[],
  hooks: readonly Hook[],
  policy: string,
): Promise<void> {
  for (const hook of hooks) {
    const object = all.find((one) => one.hook === hook)?.object;
    if (object !== undefined && deletesHook(hook, policy))
      await client.delete(refOf(object) as ObjectRef, { propagation: 'Background' });
  }
}

type Outcome = { state: 'done' } | { state: 'running' } | { state: 'failed'; why: string };

/** Helm waits for Jobs and Pods to end; anything else has done its work by being there. */
function outcomeOf({ apiVersion, kind, status }: KubeObject): Outcome {
  const {
    conditions = [],
    phase,
    message,
    reason,
  } = (status ?? {}) as {
    conditions?: Condition[];
    phase?: string;
    message?: string;
    reason?: string;
  };
  if (kind === 'Job' && apiVersion.startsWith('batch/')) {
    const failed = conditions.find(({ type, status: is }) => type === 'Failed' && is === 'True');
    if (failed !== undefined)
      return { state: 'failed', why: [failed.reason, failed.message].filter(Boolean).join(': ') };
    return {
      state: conditions.some(({ type, status: is }) => type === 'Complete' && is === 'True') ? 'done' : 'running',
    };
  }
  if (kind === 'Pod' && apiVersion === 'v1') {
    if (phase === 'Failed')
      return { state: 'failed', why: [reason, message].filter(Boolean).join(': ') || 'the pod failed' };
    return { state: phase === 'Succeeded' ? 'done' : 'running' };
  }
  return { state: 'done' };
}

export function timeOf(now: number): string {
  return new Date(now).toISOString();
}
