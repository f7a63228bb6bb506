import {
  describeRef,
  type FailedLog,
  groupOf,
  isError,
  type KubeObject,
  messageOf,
  type ObjectRef,
  type Plugin,
  refKey,
  timestamp,
} from '../api/index.ts';
import { readPodLog } from '../cluster/pod-log.ts';
import type { Inventory } from '../converge/inventory.ts';
import type { OwnedObject } from '../converge/owned.ts';
import { isRunOver, runsByCreation } from '../plan/once.ts';
import { type FailedContainer, failedContainers, secretsUsedBy } from './failed-pods.ts';
import { withoutTexts } from './hide-secrets.ts';
import { ASKED_BYTES, TAIL_LINES, tailOf } from './log-tail.ts';
import type { Parts } from './parts.ts';
import type { PluginVerdict } from './plugin.ts';
import type { PluginFindings } from './plugin-status.ts';
import { isDeclared } from './records.ts';
import { secretData } from './secret-data.ts';

const MOST_JOBS = 3;
const MOST_SECRETS = 30;
const DEADLINE_MS = 5_000;
/** Shorter ones turn up by chance everywhere. */
const SHORTEST_SECRET = 4;

export interface LogsInput {
  key: string;
  plugin: Plugin;
  record: Inventory;
  verdict: PluginVerdict;
  /** Of the Plugin's values. */
  secrets: readonly string[];
  signal: AbortSignal;
}

type LogParts = Pick<Parts, 'client' | 'clock' | 'owned'>;

/**
 * What the pods of failed Jobs said at the end. Read when a Job is first seen to have failed, and never again: the status
 * has it, by the Job's UID. It is gone when the Plugin is ready: see `nextPluginStatus`.
 */
export async function logsNow(parts: LogParts, input: LogsInput): Promise<Pick<PluginFindings, 'logs'>> {
  const { plugin, verdict, signal, secrets } = input;
  if (verdict.outcome?.phase !== 'Failed') return {};
  const failed = failedOnes(parts, input);
  const known = plugin.status?.logs ?? [];
  const kept = known.filter(({ uid }) => failed.some((job) => job.uid === uid));
  const unread = failed.filter(({ uid }) => !known.some((log) => log.uid === uid));
  if (failed.length === 0 || (unread.length === 0 && kept.length === known.length)) return {};
  const read = await Promise.all(unread.map((job) => logsOf(parts, job, secrets, signal)));
  return { logs: [...kept, ...read.flat()] };
}

function failedOnes({ owned }: LogParts, { key, record, verdict }: LogsInput): OwnedObject[] {
  const entries = verdict.findings.inventory ?? [...record.values()];
  return entries
    .filter((entry) => runsByCreation(entry) && isDeclared(entry) && !isRunOver(entry))
    .map((entry) => owned.get(refKey(entry)))
    .filter((live) => live?.plugin === key && live.health.state === 'failed')
    .slice(0, MOST_JOBS) as OwnedObject[];
}

async function logsOf(
  parts: LogParts,
  { ref, uid }: OwnedObject,
  known: readonly string[],
  signal: AbortSignal,
): Promise<FailedLog[]> {
  const said = { object: describeRef(ref), uid, at: timestamp(parts.clock.now()) };
  const nothing = (why: string): FailedLog => ({ ...said, lines: [], why: withoutTexts(why, known) });
  try {
    const pods = await podsOf(parts, ref, uid, signal);
    const names = [...new Set(pods.flatMap(secretsUsedBy))];
    if (names.length > MOST_SECRETS)
      return [nothing(`they use ${names.length} Secrets, too many to hide all that is in them`)];
    const secrets = [...known, ...(await secretsOf(parts, ref.namespace ?? '', names, signal))];
    const containers = failedContainers(pods);
    if (containers.length === 0) return [nothing('its pods are gone, and what they wrote with them')];
    return await Promise.all(
      containers.map(async (one): Promise<FailedLog> => {
        const { pod, container, never } = one;
        const ended = one.ended === undefined ? [] : [`ended by Kubernetes: ${withoutTexts(one.ended, secrets)}`];
        if (never !== undefined) return { ...nothing([`it never ran: ${never}`, ...ended].join('; ')), pod, container };
        try {
          const lines = await linesOf(parts, ref.namespace ?? '', one, secrets, signal);
          if (lines.length === 0)
            return { ...said, pod, container, lines, why: ['it wrote nothing', ...ended].join('; ') };
          return { ...said, pod, container, lines: [...lines, ...ended] };
        } catch (error) {
          return { ...nothing(whyNot(error, signal)), pod, container };
        }
      }),
    );
  } catch (error) {
    return [nothing(whyNot(error, signal))];
  }
}

function whyNot(error: unknown, signal: AbortSignal): string {
  if (signal.aborted || isError(error, 'LeaseLost', 'Aborted')) throw error;
  return messageOf(error);
}

async function linesOf(
  { client }: LogParts,
  namespace: string,
  { pod, container, previous }: FailedContainer,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const asked = { tailLines: TAIL_LINES, limitBytes: ASKED_BYTES, deadlineMs: DEADLINE_MS, signal };
  return tailOf(await readPodLog(client, { namespace, pod, container, previous, ...asked }), secrets);
}

/** Those that the Job made, whoever gave others the same labels. */
async function podsOf({ client }: LogParts, ref: ObjectRef, uid: string, signal: AbortSignal): Promise<KubeObject[]> {
  const options = { signal, deadlineMs: DEADLINE_MS };
  const inPlace = {
    apiVersion: 'v1',
    kind: 'Pod',
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
  };
  if (groupOf(ref.apiVersion) === '') {
    const { items } = await client.list({ ...inPlace, fieldSelector: `metadata.name=${ref.name}` }, options);
    return items.filter((pod) => pod.metadata.uid === uid);
  }
  const { items } = await client.list(
    { ...inPlace, labelSelector: `batch.kubernetes.io/controller-uid=${uid}` },
    options,
  );
  return items.filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

/** What the pods were given is hidden. Where it can't be read nothing is shown: what must be hidden is not known then. */
async function secretsOf(
  { client }: LogParts,
  namespace: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const found = await Promise.all(
    names.map((name) =>
      client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name }, { signal, deadlineMs: DEADLINE_MS }),
    ),
  );
  const values = found.flatMap((secret) => (secret === undefined ? [] : Object.values(secretData(secret))));
  return values.filter((value) => value.trim().length >= SHORTEST_SECRET);
}
