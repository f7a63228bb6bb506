import { type Delegation, isError, type KubeObject, messageOf, reportedOn } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { placeOf, type Report, reportCondition } from './report.ts';

/** What a handler knows of its task. */
export interface HandlerContext {
  /** What it is to bring about: `EnsureKubelet`. */
  condition: string;
  /** Name of the Plugin that the expansion is. */
  expansion: string;
  /** Namespace of the operator and of the record. */
  namespace: string;
  /** Name of the ConfigMap that says what is delegated. Another version of the package has another one. */
  record: string;
  /** How often this failed in a row. */
  failures: number;
  /** The Kubernetes API, with the rights of the operator's service account. */
  client: KubeClient;
  /** Aborted when the operator ends, when another version of the package takes over, and when the time is over. */
  signal: AbortSignal;
  /** Tells how far it is, to everybody who waits. */
  progress(message: string): Promise<void>;
}

/**
 * Makes one condition true. It may be run again at any time, after a restart for instance, so it looks first at what is
 * there. What it returns is told with the success; what it throws is told too, and it is tried again.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is the usual one
export type Handler = (context: HandlerContext) => Promise<string | void>;
export type Handlers = Readonly<Record<string, Handler>>;

export interface Task {
  client: KubeClient;
  handlers: Handlers;
  delegation: Delegation;
  condition: string;
  failures: number;
  signal: AbortSignal;
  /** Success that could not be told the last time: it is not worked for again. */
  untold: string | undefined;
  now(): number;
  log(line: string): void;
}

export type Settled = { state: 'told' | 'nothing to do' } | { state: 'untold'; message: string; error: unknown };

/** One try at one condition. Throws what its handler throws, after telling it. */
export async function settleCondition(task: Task): Promise<Settled> {
  const { handlers, condition } = task;
  const object = await objectNow(task);
  const before = object === undefined ? undefined : reportedOn(object, condition);
  // Where there is no object nobody could be told; it is looked at again when it appears.
  if (object === undefined || before?.status === 'True') return { state: 'nothing to do' };
  const handler = Object.hasOwn(handlers, condition) ? handlers[condition] : undefined;
  if (handler === undefined) {
    const known = Object.keys(handlers).sort().join(', ') || 'none';
    await tell(task, {
      status: 'False',
      reason: 'NoHandler',
      message: `the operator does not know it; it has ${known}`,
    });
    return { state: 'told' };
  }
  const message = task.untold ?? (await work(task, handler, before === undefined));
  try {
    await tell(task, { status: 'True', reason: 'Done', message });
    return { state: 'told' };
  } catch (error) {
    return { state: 'untold', message, error };
  }
}

async function work(task: Task, handler: Handler, isFirst: boolean): Promise<string> {
  const { client, delegation, condition, failures, signal, log } = task;
  const { expansion, record } = delegation;
  const progress = async (message: string): Promise<void> => {
    await tell(task, { status: 'False', reason: 'Working', message });
  };
  // Over what went wrong the last time it would hide that.
  if (isFirst) await progress('it is being worked on');
  try {
    const place = { expansion, namespace: record.namespace ?? '', record: record.name };
    return (await handler({ condition, ...place, failures, client, signal, progress })) || 'done';
  } catch (thrown) {
    const isTooLong = isError(signal.reason, 'DeadlineExceeded');
    // Whoever is told to end has not failed.
    if (signal.aborted && !isTooLong) throw thrown;
    const error = isTooLong ? signal.reason : thrown;
    const report = { status: 'False', reason: 'Failed', message: messageOf(error) } as const;
    await tell(task, report).catch((untold: unknown) => log(`could not tell it: ${messageOf(untold)}`));
    throw error;
  }
}

async function objectNow({ client, delegation, signal }: Task): Promise<KubeObject | undefined> {
  try {
    return await client.get(placeOf(delegation), { signal });
  } catch (error) {
    if (isError(error, 'KubeKindUnknown')) return undefined;
    throw error;
  }
}

async function tell({ client, delegation, condition, now, log }: Task, report: Report): Promise<void> {
  await reportCondition(client, placeOf(delegation), condition, report, now());
  log(`${condition} is ${report.status}: ${report.message}`);
}
