import {
  type Delegation,
  isError,
  type Json,
  type KubeObject,
  type ObjectRef,
  type Reported,
  reportedOn,
  reportText,
  timestamp,
} from '../api/index.ts';
import { shorten } from '../api/one-line.ts';
import type { KubeClient } from '../cluster/client.ts';

/** Field manager of what an operator reports, so that nobody takes it for the agent's or for somebody else's. */
export const OPERATOR_MANAGER = 'espalier-operator';

const MESSAGE_LENGTH = 1_000;
const TRIES = 5;

export interface Report {
  status: 'True' | 'False';
  reason: string;
  message: string;
}

/** Where the conditions of a delegation are told. */
export function placeOf({ record, on }: Delegation): ObjectRef {
  return on ?? record;
}

/**
 * Writes one condition, and nothing when it says that already. Conditions of others stay, whoever writes beside us. An
 * object that is gone has nobody left to tell.
 */
export async function reportCondition(
  client: KubeClient,
  place: ObjectRef,
  type: string,
  report: Report,
  now: number,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const object = await client.get(place);
    const change = object === undefined ? undefined : changeFor(object, type, report, now);
    if (change === undefined) return;
    const { body, subresource } = change;
    try {
      const write = { type: 'merge', fieldManager: OPERATOR_MANAGER } as const;
      await client.patch(place, body, subresource === undefined ? write : { ...write, subresource });
      return;
    } catch (error) {
      if (isError(error, 'KubeNotFound') && (await client.get(place)) === undefined) return;
      if (!isError(error, 'KubeConflict') || tries >= TRIES) throw error;
    }
  }
}

/** The patch that makes an object say this; undefined when it does. */
export function changeFor(
  object: KubeObject,
  type: string,
  report: Report,
  now: number,
): { body: Json; subresource?: 'status' } | undefined {
  const before = reportedOn(object, type);
  const message = shorten(report.message, MESSAGE_LENGTH);
  if (before?.status === report.status && before.reason === report.reason && before.message === message)
    return undefined;
  const kept = before?.status === report.status ? before.lastTransitionTime : undefined;
  const next = { status: report.status, reason: report.reason, message, lastTransitionTime: kept ?? timestamp(now) };
  if (object.apiVersion === 'v1' && object.kind === 'ConfigMap')
    return { body: { data: { [type]: reportText(next) } } };
  const { generation, resourceVersion = '' } = object.metadata;
  const own = { type, ...next, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  const conditions = withCondition(conditionsOf(object), own);
  // The list is one value to a merge patch: it holds only for the object as it was read.
  return { body: { metadata: { resourceVersion }, status: { conditions } }, subresource: 'status' };
}

function withCondition(conditions: readonly Json[], own: Reported & { type: string }): Json[] {
  const written = own as unknown as Json;
  const at = conditions.findIndex((one) => typeOf(one) === own.type);
  return at < 0 ? [...conditions, written] : conditions.with(at, written);
}

function conditionsOf({ status }: KubeObject): Json[] {
  const { conditions } = (status ?? {}) as { conditions?: unknown };
  return Array.isArray(conditions) ? conditions : [];
}

function typeOf(condition: Json): unknown {
  return typeof condition === 'object' && condition !== null && !Array.isArray(condition) ? condition.type : undefined;
}
