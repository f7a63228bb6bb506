import { type EspalierError, isError, type ObjectRef } from '../api/index.ts';
import { eventKey, eventObject, eventRef, type Occurrence, type Series, seriesOf } from './eventobject.ts';
import type { KubeClient } from './kubeclient.ts';
import { type Clock, pause, wallClock } from './timing.ts';

export interface EventInput {
  /** With its uid, so that `kubectl describe` finds the event. */
  regarding: ObjectRef & { uid?: string };
  type: 'Normal' | 'Warning';
  /** UpperCamelCase, for machines: `Applied`. */
  reason: string;
  /** What was being done: `Reconcile`. */
  action: string;
  /** For people. Cut at 1 kB. Never a secret. */
  note: string;
}

export interface EventRecorderOptions {
  /** Such as `espalier.dev/agent`. */
  controller: string;
  /** The pod's name. */
  instance: string;
  clock?: Clock;
  /** Events that may wait to be sent; the oldest go first when there are more. */
  queueLimit?: number;
  /** There is more urgent work for the API server: events wait, for some seconds and while there are not too many. */
  isBusy?(): boolean;
  onError?(error: EspalierError): void;
}

export interface EventRecorder {
  /** Returns at once and never throws. What was told already and is told again counts up its series now and then. */
  record(event: EventInput): void;
  /** Events that could not be sent, or had no place in the queue. */
  readonly dropped: number;
  /** Sends what waits, within the time. */
  stop(graceMs?: number): Promise<void>;
}

/** The same event within this time is a repetition. */
const SERIES_MS = 10 * 60_000;
/** Repetitions are written at the first one, and then this often. */
const SERIES_WRITE_MS = 5 * 60_000;
const MOST_SERIES = 2_000;
const QUEUE_LIMIT = 1_000;
const SEND_DEADLINE_MS = 5_000;
/** While there is more urgent work: how long an event waits for its end, how often that is looked for, and how many may wait. */
const LONGEST_WAIT_MS = 5_000;
const LOOK_AGAIN_MS = 50;
const MOST_WAITING = 500;
/** It is over when there was none for so long: its last part looks like its end. */
const QUIET_MS = 250;

/** Tells people what happened, through events.k8s.io. Events are a courtesy: losing one never holds anything up. */
export function createEventRecorder(client: KubeClient, options: EventRecorderOptions): EventRecorder {
  const clock = options.clock ?? wallClock;
  const limit = options.queueLimit ?? QUEUE_LIMIT;
  const series = new Map<string, Series>();
  const queue = new Set<Series>();
  const ending = new AbortController();
  const stopping = new AbortController();
  let dropped = 0;
  let sending: Promise<void> | undefined;
  let busyAt = Number.NEGATIVE_INFINITY;

  function remember(key: string, event: Occurrence): Series {
    const known = series.get(key);
    series.delete(key);
    if (known !== undefined && event.at - known.lastAt < SERIES_MS) {
      known.count++;
      known.lastAt = event.at;
      series.set(key, known);
      return known;
    }
    const fresh: Series = { event, name: eventRef(event), count: 1, lastAt: event.at, written: 0, writtenAt: 0 };
    series.set(key, fresh);
    const oldest = series.keys().next();
    if (series.size > MOST_SERIES && !oldest.done) series.delete(oldest.value);
    return fresh;
  }

  async function drain(): Promise<void> {
    for (const each of queue) {
      await urgentWorkDone(each.lastAt);
      // Dropped, where too many came meanwhile.
      if (!queue.delete(each)) continue;
      const before = { count: each.written, at: each.writtenAt };
      try {
        await send(each, before.count === 0);
      } catch (error) {
        each.written = before.count;
        each.writtenAt = before.at;
        dropped++;
        if (isError(error)) options.onError?.(error);
      }
    }
    sending = undefined;
  }

  async function urgentWorkDone(since: number): Promise<void> {
    const until = since + LONGEST_WAIT_MS;
    while (isBusy() && queue.size < MOST_WAITING && clock.now() < until && !ending.signal.aborted)
      await pause(LOOK_AGAIN_MS, clock, ending.signal);
  }

  function isBusy(): boolean {
    if (options.isBusy?.() === true) busyAt = clock.now();
    return clock.now() - busyAt < QUIET_MS;
  }

  async function send(each: Series, first: boolean): Promise<void> {
    const call = { deadlineMs: SEND_DEADLINE_MS, signal: stopping.signal };
    each.written = each.count;
    each.writtenAt = clock.now();
    if (first) await client.create(eventObject(each, options), call);
    else await client.patch(each.name, { series: seriesOf(each) }, { type: 'merge', ...call });
  }

  return {
    get dropped() {
      return dropped;
    },
    record(input) {
      if (stopping.signal.aborted) return;
      const event: Occurrence = { ...input, at: clock.now() };
      const each = remember(eventKey(event), event);
      const due = each.written < 2 || event.at - each.writtenAt >= SERIES_WRITE_MS;
      if (!due) return;
      queue.add(each);
      const [oldest] = queue;
      if (queue.size > limit && oldest !== undefined) {
        queue.delete(oldest);
        dropped++;
      }
      sending ??= drain();
    },
    async stop(graceMs = 2_000) {
      ending.abort();
      await Promise.race([sending, pause(graceMs, clock, stopping.signal)]);
      stopping.abort();
      await sending;
    },
  };
}
