import { EspalierError, isError, type KubeObject, messageOf } from '../api/index.ts';
import { createKnownObjects } from './known.ts';
import type { KubeClient, ListTarget } from './kubeclient.ts';
import { type Clock, createSleeper, wallClock } from './timing.ts';
import { nextWait, type WatchTrouble } from './watch-wait.ts';

export type WatchEventType = 'added' | 'modified' | 'deleted';

export interface WatchHandlers {
  /** Each change, in order. What the handler throws goes to `onError` and does not stop the watch. */
  onEvent(type: WatchEventType, object: KubeObject): void;
  /** After every complete list: the keys (`namespace/name`, or `name`) of all that exists, as of that version; none when the kind is not served. */
  onSync?(keys: Set<string>, resourceVersion: string | undefined): void;
  /** What went wrong, and when it is tried again. Nothing needs to be done about it. */
  onError?(error: EspalierError, retryInMs: number): void;
}

export interface WatchOptions {
  signal?: AbortSignal;
  clock?: Clock;
  random?: () => number;
  pageSize?: number;
  /** See `WatchStreamOptions`; the defaults are right outside of tests. */
  timeoutSeconds?: number;
  idleMs?: number;
}

export interface Watch {
  /** Resolves after the first complete list, or once the API server has said that it does not serve the kind. */
  synced: Promise<void>;
  /** Try again at once instead of after the current wait, for instance when the kind's CRD was just established. */
  wake(): void;
  /** After this resolves no handler is called any more. */
  stop(): Promise<void>;
}

/** Failures in a row, without one event, after which a position is given up: the server's store may have been restored. */
const RELIST_AFTER = 5;
/** A stream that held this long was a good one, however it ended. */
const GOOD_STREAM_MS = 5_000;

/**
 * Follows all objects of a kind until it is stopped, through restarts, broken connections and a kind that comes and
 * goes. It keeps uid and resourceVersion of each object and nothing more. A deletion that was missed while disconnected
 * is found by the next list, and delivered with the name, namespace, uid and resourceVersion last known.
 */
export function watchObjects(
  client: KubeClient,
  target: ListTarget,
  handlers: WatchHandlers,
  options: WatchOptions = {},
): Watch {
  const clock = options.clock ?? wallClock;
  const random = options.random ?? Math.random;
  const ended = new AbortController();
  const { signal } = ended;
  const onAbort = () => ended.abort();
  if (options.signal?.aborted) onAbort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const sleeper = createSleeper(clock, signal);
  const synced = Promise.withResolvers<void>();
  const known = createKnownObjects(target, (type, object) => {
    if (!signal.aborted) call(() => handlers.onEvent(type, object));
  });
  /** Where the next watch goes on; undefined when a list must come first. */
  let position: string | undefined;
  let failures = 0;

  function call(handler: () => void): void {
    try {
      handler();
    } catch (cause) {
      const what = `the watch handler for ${target.kind} failed: ${messageOf(cause)}`;
      report(new EspalierError('Internal', what, { cause }), 0);
    }
  }

  function report(error: EspalierError, retryInMs: number): void {
    try {
      handlers.onError?.(error, retryInMs);
    } catch {
      // A reporter that fails has nobody to report to.
    }
  }

  function settled(): void {
    call(() => handlers.onSync?.(known.keys(), position));
    synced.resolve();
  }

  async function list(): Promise<void> {
    const round = known.begin();
    const { resourceVersion } = await client.pages(
      target,
      (items, { restarted }) => {
        if (restarted) round.restart();
        for (const item of items) round.see(item);
      },
      { signal, ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }) },
    );
    if (signal.aborted) return;
    round.end();
    position = resourceVersion;
    settled();
  }

  /** True when the stream brought something, or held for a while. */
  async function follow(resourceVersion: string): Promise<boolean> {
    const started = clock.now();
    let heard = false;
    try {
      await client.watchOnce(target, {
        resourceVersion,
        signal,
        ...(options.timeoutSeconds === undefined ? {} : { timeoutSeconds: options.timeoutSeconds }),
        ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
        onLine(line) {
          heard = true;
          if (line.type === 'BOOKMARK') {
            position = line.resourceVersion;
            return;
          }
          known.change(line.type, line.object);
          position = line.object.metadata.resourceVersion ?? position;
        },
      });
      return heard || clock.now() - started >= GOOD_STREAM_MS;
    } finally {
      if (heard || clock.now() - started >= GOOD_STREAM_MS) failures = 0;
    }
  }

  /** Lists or watches once; says what kept it from going on. */
  async function step(): Promise<WatchTrouble | undefined> {
    try {
      if (position === undefined) await list();
      else if (!(await follow(position))) return { kind: 'short' };
      return undefined;
    } catch (error) {
      if (isError(error, 'KubeGone')) {
        position = undefined;
        return { kind: 'gone', error };
      }
      if (isError(error, 'KubeKindUnknown')) {
        position = undefined;
        if (!signal.aborted) {
          // The API server has confirmed it: nothing of this kind exists.
          known.begin().end();
          settled();
        }
        return { kind: 'unknown', error };
      }
      const failure =
        error instanceof EspalierError ? error : new EspalierError('Internal', messageOf(error), { cause: error });
      if (failures >= RELIST_AFTER) position = undefined;
      return { kind: 'failed', error: failure };
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const trouble = await step();
      if (trouble === undefined || signal.aborted) continue;
      failures++;
      const wait = nextWait(trouble, failures, random);
      if (trouble.kind !== 'short') report(trouble.error, wait);
      await sleeper.sleep(wait);
    }
  }

  const running = run().finally(() => {
    options.signal?.removeEventListener('abort', onAbort);
    synced.reject(new EspalierError('Aborted', `the watch of ${target.kind} was stopped before its first list`));
  });
  // Nobody may be waiting for it.
  synced.promise.catch(() => {});
  return {
    synced: synced.promise,
    wake: () => sleeper.wake(),
    async stop() {
      ended.abort();
      await running;
    },
  };
}
