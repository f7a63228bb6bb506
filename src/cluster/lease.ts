import { EspalierError, isError, messageOf } from '../api/index.ts';
import type { KubeClient } from './kubeclient.ts';
import { createGuard, type GuardControl, type LeaderGuard } from './leaderguard.ts';
import { acquisition, type LeaseRecord, leaseObject, type Rival, readLease, waitForRival } from './leaserecord.ts';
import { type Clock, createSteadyClock, microTime, pause, wallClock } from './timing.ts';

export type { LeaderGuard } from './leaderguard.ts';

export interface LeaseOptions {
  namespace: string;
  name: string;
  /** Different for each process, also for two on one host, and after a restart. */
  identity: string;
  /** A rival may take over when the lease has not changed for this long. */
  durationMs?: number;
  /** The leader stops writing this long after its last renewal: what is under way then has the rest of the duration to land. */
  renewDeadlineMs?: number;
  retryMs?: number;
  clock?: Clock;
  /** Milliseconds that never go back. */
  now?: () => number;
  random?: () => number;
  /** Aborting it is as calling `stop`. */
  signal?: AbortSignal;
  onError?(error: EspalierError): void;
}

export interface Candidacy {
  /** Who held the lease when last seen. */
  readonly holder: string | undefined;
  /** Winds the work down, waits for it, and gives the lease up, so that another replica leads within a second or so. */
  stop(): Promise<void>;
}

const DURATION_MS = 10_000;
const RENEW_DEADLINE_MS = 7_000;
const RETRY_MS = 2_000;
const CALL_DEADLINE_MS = 3_000;

/**
 * Runs for leader, and leads whenever elected. `lead` is called at the start of each term; the term lasts until the lease
 * is lost or `stop` is called, whatever `lead` does. The next term waits for `lead` to return, which it should do soon
 * after `guard.signal` aborts.
 */
export function runForLeader(
  client: KubeClient,
  options: LeaseOptions,
  lead: (guard: LeaderGuard) => Promise<void>,
): Candidacy {
  const clock = options.clock ?? wallClock;
  const now = options.now ?? createSteadyClock();
  const random = options.random ?? Math.random;
  const durationMs = options.durationMs ?? DURATION_MS;
  const renewDeadlineMs = options.renewDeadlineMs ?? RENEW_DEADLINE_MS;
  const retryMs = options.retryMs ?? RETRY_MS;
  const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: options.namespace, name: options.name };
  const stopping = new AbortController();
  const onAbort = () => stopping.abort();
  if (options.signal?.aborted) onAbort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  let holder: string | undefined;

  function report(error: unknown): void {
    options.onError?.(
      error instanceof EspalierError ? error : new EspalierError('Internal', messageOf(error), { cause: error }),
    );
  }

  /** Reads the lease; undefined when there is none. */
  async function read(): Promise<LeaseRecord | undefined> {
    const object = await client.get(ref, { urgent: true, deadlineMs: CALL_DEADLINE_MS });
    const record = object === undefined ? undefined : readLease(object);
    holder = record?.holder;
    return record;
  }

  /** Compare-and-swap. Returns what is now stored, with the moment before it was sent: validity counts from there. */
  async function write(
    next: LeaseRecord,
    deadlineMs = CALL_DEADLINE_MS,
  ): Promise<{ record: LeaseRecord; sentAt: number }> {
    const sentAt = now();
    const object = leaseObject(ref, next);
    const call = { urgent: true, deadlineMs: Math.max(1, Math.min(deadlineMs, CALL_DEADLINE_MS)) };
    const stored = next.object === undefined ? await client.create(object, call) : await client.update(object, call);
    const record = readLease(stored);
    holder = record.holder;
    return { record, sentAt };
  }

  /** Waits for the lease to be free, and takes it. Undefined when stopped first. */
  async function elect(): Promise<{ guard: GuardControl; record: LeaseRecord } | undefined> {
    let rival: Rival | undefined;
    while (!stopping.signal.aborted) {
      let wait = retryMs / 2;
      try {
        const current = await read();
        const decision = waitForRival(current, rival, { identity: options.identity, now: now(), durationMs });
        rival = decision.rival;
        if (decision.waitMs === 0) {
          const { record, sentAt } = await write(
            acquisition(current, { identity: options.identity, durationMs, time: microTime(clock.now()) }),
          );
          return { record, guard: createGuard(sentAt + renewDeadlineMs, now, clock) };
        }
        wait = Math.min(wait, decision.waitMs);
      } catch (error) {
        // Somebody else was faster: that is how elections go.
        if (!isError(error, 'KubeConflict', 'KubeAlreadyExists')) report(error);
      }
      await pause(wait * (1 + random() * 0.1), clock, stopping.signal);
    }
    return undefined;
  }

  /** Renews until the term ends or `working` aborts. Returns what is stored last. */
  async function keep(guard: GuardControl, first: LeaseRecord, working: AbortSignal): Promise<LeaseRecord> {
    let record = first;
    let wait = retryMs;
    while (guard.held()) {
      await pause(wait, clock, working);
      if (working.aborted || !guard.held()) break;
      try {
        const written = await write({ ...record, renewedAt: microTime(clock.now()) }, guard.validUntil - now());
        record = written.record;
        guard.extend(written.sentAt + renewDeadlineMs);
        wait = retryMs;
      } catch (error) {
        wait = retryMs / 4;
        if (isError(error, 'KubeConflict')) {
          const known = record;
          const seen = await read().catch(() => known);
          // The API server would make a Lease that an update does not find, and so tells of a conflict here too.
          if (seen === undefined) guard.end('the lease was deleted');
          else if (seen.holder !== options.identity) guard.end(`${seen.holder || 'nobody'} holds the lease`);
          else record = seen;
          continue;
        }
        if (isError(error, 'KubeNotFound')) guard.end('the lease was deleted');
        report(error);
      }
    }
    return record;
  }

  async function release(guard: GuardControl, record: LeaseRecord): Promise<void> {
    if (!guard.held()) return;
    guard.end('it was given up');
    try {
      await write({ ...record, holder: '' });
    } catch (error) {
      if (!isError(error, 'KubeConflict')) report(error);
    }
  }

  /** Leads for one term. */
  async function term(guard: GuardControl, record: LeaseRecord): Promise<void> {
    const working = new AbortController();
    const onStop = () => guard.windDown();
    stopping.signal.addEventListener('abort', onStop, { once: true });
    if (stopping.signal.aborted) onStop();
    const kept = keep(guard, record, working.signal);
    try {
      await lead(guard);
      // Leading ends with the term, not with the function that started the work.
      if (!guard.signal.aborted) await once(guard.signal);
    } catch (error) {
      report(error);
      await pause(retryMs, clock, guard.signal);
    } finally {
      stopping.signal.removeEventListener('abort', onStop);
      working.abort();
    }
    await release(guard, await kept);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const elected = await elect();
      if (elected !== undefined) await term(elected.guard, elected.record);
    }
    options.signal?.removeEventListener('abort', onAbort);
  }

  const running = run();
  return {
    get holder() {
      return holder;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
