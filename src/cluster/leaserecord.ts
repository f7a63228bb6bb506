import type { KubeObject, ObjectRef } from '../api/index.ts';
import { isRecord } from './json.ts';

/** The content of a Lease that an election is about. */
export interface LeaseRecord {
  /** Empty when it was given up. */
  holder: string;
  durationMs: number;
  transitions: number;
  acquiredAt: string;
  renewedAt: string;
  /** What it was read from: everything else in it stays. Undefined for a lease that does not exist yet. */
  object: KubeObject | undefined;
}

/** Another holder's lease as last seen to change, on our own clock: clocks of other hosts are not believed. */
export interface Rival {
  version: string;
  seenAt: number;
}

/** How long to wait before the lease may be taken: 0 is now. Pass the `rival` of one look to the next. */
export function waitForRival(
  current: LeaseRecord | undefined,
  before: Rival | undefined,
  { identity, now, durationMs }: { identity: string; now: number; durationMs: number },
): { waitMs: number; rival: Rival | undefined } {
  if (current === undefined || current.holder === '' || current.holder === identity) {
    return { waitMs: 0, rival: undefined };
  }
  const version = `${current.holder} ${current.renewedAt} ${current.transitions}`;
  const rival = before?.version === version ? before : { version, seenAt: now };
  const term = current.durationMs > 0 ? current.durationMs : durationMs;
  return { waitMs: Math.max(0, rival.seenAt + term - now), rival };
}

/** The record that makes `identity` the holder at `time`. */
export function acquisition(
  current: LeaseRecord | undefined,
  { identity, durationMs, time }: { identity: string; durationMs: number; time: string },
): LeaseRecord {
  const again = current?.holder === identity;
  return {
    holder: identity,
    durationMs,
    transitions: current === undefined ? 0 : current.transitions + (again ? 0 : 1),
    acquiredAt: again ? current.acquiredAt : time,
    renewedAt: time,
    object: current?.object,
  };
}

export function leaseObject(ref: ObjectRef, record: LeaseRecord): KubeObject {
  const before = record.object;
  return {
    ...before,
    apiVersion: ref.apiVersion,
    kind: ref.kind,
    metadata: {
      ...before?.metadata,
      name: ref.name,
      ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    },
    spec: {
      ...(isRecord(before?.spec) ? before.spec : {}),
      holderIdentity: record.holder === '' ? null : record.holder,
      leaseDurationSeconds: Math.max(1, Math.ceil(record.durationMs / 1000)),
      leaseTransitions: record.transitions,
      acquireTime: record.acquiredAt,
      renewTime: record.renewedAt,
    },
  };
}

export function readLease(object: KubeObject): LeaseRecord {
  const spec = isRecord(object.spec) ? object.spec : {};
  return {
    holder: typeof spec.holderIdentity === 'string' ? spec.holderIdentity : '',
    durationMs: typeof spec.leaseDurationSeconds === 'number' ? spec.leaseDurationSeconds * 1000 : 0,
    transitions: typeof spec.leaseTransitions === 'number' ? spec.leaseTransitions : 0,
    acquiredAt: typeof spec.acquireTime === 'string' ? spec.acquireTime : '',
    renewedAt: typeof spec.renewTime === 'string' ? spec.renewTime : '',
    object,
  };
}
