import { randomBytes } from 'node:crypto';
import type { KubeObject, ObjectRef } from '../api/index.ts';
import type { EventInput } from './events.ts';
import { microTime } from './timing.ts';

export type Occurrence = EventInput & { at: number };

/** One event and its repetitions. */
export interface Series {
  event: Occurrence;
  name: ObjectRef;
  count: number;
  lastAt: number;
  /** The count that the API server has been told, 0 for nothing yet. */
  written: number;
  writtenAt: number;
}

/** What the API server takes. */
const NOTE_BYTES = 1_024;
const NAME_LENGTH = 230;

export function eventKey({ regarding, type, reason, action, note }: EventInput): string {
  const { apiVersion, kind, namespace, name, uid } = regarding;
  return JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, action, note]);
}

/** Events about cluster-scoped objects live in `default`. */
export function eventRef({ regarding }: EventInput): ObjectRef {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    namespace: regarding.namespace ?? 'default',
    name: `${regarding.name
      .toLowerCase()
      .replace(/[^a-z0-9.-]/g, '-')
      .slice(0, NAME_LENGTH)}.${randomBytes(8).toString('hex')}`,
  };
}

export function seriesOf({ count, lastAt }: Series): { count: number; lastObservedTime: string } {
  return { count, lastObservedTime: microTime(lastAt) };
}

export function eventObject(each: Series, reporter: { controller: string; instance: string }): KubeObject {
  const { event, name } = each;
  const { regarding, type, reason, action, note, at } = event;
  return {
    apiVersion: name.apiVersion,
    kind: name.kind,
    metadata: { name: name.name, ...(name.namespace === undefined ? {} : { namespace: name.namespace }) },
    eventTime: microTime(at),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance.slice(0, 128),
    type,
    reason: reason.slice(0, 128),
    action: action.slice(0, 128),
    regarding,
    note: cut(note, NOTE_BYTES),
    ...(each.count > 1 ? { series: seriesOf(each) } : {}),
  };
}

function cut(text: string, bytes: number): string {
  const whole = Buffer.from(text, 'utf8');
  if (whole.length <= bytes) return text;
  const short = whole.subarray(0, bytes - 3).toString('utf8');
  return `${short.replace(/\uFFFD$/, '')}…`;
}
