import { LABEL, messageOf, type ObjectRef, type Reported, reportedOn } from '../api/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { runController } from '../runtime/controller.ts';
import { WorkQueue } from '../runtime/queue.ts';
import { DelegationWatch } from './delegation-watch.ts';
import { newestRecord } from './newest.ts';
import { placeOf } from './report.ts';
import { type Handlers, settleCondition } from './settle-condition.ts';
import { connect, type OperatorOptions, untilSignal } from './surroundings.ts';

export type { KubeObject, ObjectRef, Reported } from '../api/index.ts';
export type { KubeClient } from '../cluster/client.ts';
export type { Handler, HandlerContext, Handlers } from './settle-condition.ts';
export type { OperatorOptions } from './surroundings.ts';

export interface RunOptions extends OperatorOptions {
  /** Ends the operator. Default: SIGTERM and SIGINT do. */
  signal?: AbortSignal;
  /** How long handlers may still run then, before their signal is aborted. Default 15 s. */
  graceMs?: number;
  /** Longest time for one run of a handler. Default 1 h. */
  deadlineMs?: number;
  /** Default: a line on standard output each. */
  log?(line: string): void;
}

export interface Delegated {
  condition: string;
  /** The object that says whether it is true: the record, or a custom object. */
  on: ObjectRef;
  /** What that says now; undefined while nobody has said anything. */
  reported?: Reported;
}

const BACKOFF = { baseMs: 1_000, factor: 2, capMs: 60_000, jitter: 0.3 };

/** What is delegated to this operator now. */
export async function delegated(options: OperatorOptions = {}): Promise<Delegated[]> {
  const { client, whose, namespace, close } = connect(options);
  try {
    const labelSelector = `${LABEL.expansion}=${whose.expansion}`;
    const { items } = await client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace, labelSelector });
    const delegation = newestRecord(items, whose)?.delegation;
    if (delegation === undefined) return [];
    const on = placeOf(delegation);
    const object = await client.get(on);
    return delegation.conditions.map((condition) => {
      const reported = object === undefined ? undefined : reportedOn(object, condition);
      return { condition, on, ...(reported === undefined ? {} : { reported }) };
    });
  } finally {
    await close();
  }
}

/**
 * Makes every condition true that is delegated and has a handler, and again when it ceases to be. Runs until it is told
 * to end; through failures, restarts and an API server that goes away. Never runs one condition twice at once.
 */
export async function runOperator(handlers: Handlers, options: RunOptions = {}): Promise<void> {
  const { client, whose, namespace, close } = connect(options);
  const log = options.log ?? ((line: string) => console.log(`${new Date().toISOString()} ${line}`));
  const end = options.signal === undefined ? untilSignal(log) : { signal: options.signal, forget: () => undefined };
  const { signal } = end;
  const queue = new WorkQueue({ clock: systemClock, backoff: BACKOFF });
  const watch = new DelegationWatch({
    ...{ ...whose, client, namespace, signal },
    onNews: (condition) => queue.add(condition),
    onTrouble: (what, error) => log(`can't follow ${what} for now: ${error.message}`),
  });
  /** By condition: work that is done for a record that does not say so yet. */
  const untold = new Map<string, { uid: string; message: string }>();
  log(`operator of ${whose.expansion} in ${namespace}: ${Object.keys(handlers).sort().join(', ')}`);

  async function settle(condition: string, run: AbortSignal): Promise<undefined> {
    const current = watch.current();
    if (current?.delegation.conditions.includes(condition) !== true) return undefined;
    const left = untold.get(condition);
    untold.delete(condition);
    try {
      const settled = await settleCondition({
        ...{ client, handlers, condition, log, delegation: current.delegation },
        failures: queue.failuresOf(condition),
        signal: AbortSignal.any([run, current.replaced]),
        untold: left?.uid === current.uid ? left.message : undefined,
        now: () => systemClock.now(),
      });
      if (settled.state !== 'untold') return undefined;
      untold.set(condition, { uid: current.uid, message: settled.message });
      throw settled.error;
    } catch (error) {
      // Whoever took its place has said already that there is work.
      if (current.replaced.aborted) return undefined;
      throw error;
    }
  }

  const { abandoned } = await runController({
    ...{ name: 'condition', queue, clock: systemClock, concurrency: 8, signal, reconcile: settle },
    graceMs: options.graceMs ?? 15_000,
    deadlineMs: options.deadlineMs ?? 3_600_000,
    onError(condition, error, failures) {
      if (!signal.aborted) log(`${condition} failed (${failures} in a row), and is tried again: ${messageOf(error)}`);
      return { retry: 'backoff' };
    },
  });
  end.forget();
  await close();
  if (abandoned.length === 0) return;
  log(`still at work on ${abandoned.join(', ')}: their handlers did not mind the signal`);
  if (options.signal === undefined) process.exit(1);
}
