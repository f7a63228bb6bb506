import { EspalierError, type KubeObject } from '../api/index.ts';
import type { Sink } from './exchange.ts';
import { answerFailure, badAnswer, type Subject, sentence } from './failure.ts';
import { isRecord } from './json.ts';
import type { ListTarget, WatchLine, WatchStreamOptions } from './kubeclient.ts';
import { createLineCutter } from './lines.ts';
import { isObjectBody } from './list.ts';

/** etcd holds objects of 1.5 MB unless told otherwise; JSON and managedFields make them larger. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** Bookmarks come about every minute once a kind has seen an event; reconnecting costs one request. */
const IDLE_MS = 150_000;
/** Added to what we asked the server for, before we hang up ourselves. */
const GRACE_MS = 15_000;

/**
 * How long the server shall hold a stream. On a shared HTTP/2 connection pings notice a dead path, so it is long, and
 * spread so that not all reconnect at once. On a connection of its own nothing does: the stream is renewed each 40 s, and
 * with the grace below a half-open connection is noticed within a minute.
 */
export function streamSeconds(shared: boolean, random: () => number): number {
  return shared ? Math.round(300 + random() * 300) : Math.round(35 + random() * 5);
}

/** Turns one watch answer into lines. `signal` ends the request: on the caller's wish, or when the stream is stale. */
export interface WatchStream {
  sink: Sink;
  signal: AbortSignal;
  /** Why we hung up ourselves, or what the server said in the stream. */
  failure(): EspalierError | undefined;
  end(): void;
}

export function openWatchStream(
  target: ListTarget,
  subject: Subject,
  options: WatchStreamOptions & { timeoutSeconds: number },
): WatchStream {
  const hangUp = new AbortController();
  let failure: EspalierError | undefined;
  const idleMs = options.idleMs ?? IDLE_MS;
  let lastHeard = performance.now();
  const end = lastHeard + options.timeoutSeconds * 1000 + GRACE_MS;

  function stop(error: EspalierError): void {
    failure ??= error;
    hangUp.abort(failure);
  }

  const timer = setInterval(
    () => {
      const now = performance.now();
      const quiet = now - lastHeard;
      if (quiet < idleMs && now < end) return;
      stop(
        new EspalierError('KubeTimedOut', `${sentence('watch', subject)}: silent for ${Math.round(quiet / 1000)} s`, {
          data: { apiVersion: target.apiVersion, kind: target.kind },
        }),
      );
    },
    Math.min(2_000, idleMs / 5),
  );
  timer.unref();

  const cutter = createLineCutter(options.maxLineBytes ?? MAX_LINE_BYTES, (text) => {
    const line = readLine(text, target, subject);
    if (line instanceof EspalierError) stop(line);
    else if (line !== undefined && !options.signal.aborted) options.onLine(line);
  });

  return {
    sink: {
      onHead: (status) => status === 200,
      onChunk(chunk) {
        lastHeard = performance.now();
        if (failure === undefined) cutter.push(chunk);
      },
    },
    signal: AbortSignal.any([options.signal, hangUp.signal]),
    failure: () => failure,
    end: () => clearInterval(timer),
  };
}

function readLine(text: string, target: ListTarget, subject: Subject): WatchLine | EspalierError | undefined {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    return badAnswer('watch', subject, 'an event is not JSON');
  }
  if (!isRecord(event) || !isRecord(event.object)) return badAnswer('watch', subject, 'an event has no object');
  const { type, object } = event;
  if (type === 'ERROR') {
    const status = typeof object.code === 'number' ? object.code : 500;
    return answerFailure('watch', subject, { status, headers: {}, body: JSON.stringify(object) });
  }
  if (type === 'BOOKMARK') {
    const version = isRecord(object.metadata) ? object.metadata.resourceVersion : undefined;
    return typeof version === 'string' ? { type, resourceVersion: version } : undefined;
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') return undefined;
  if (!isObjectBody(object)) return badAnswer('watch', subject, 'an event is about an object without a name');
  const { apiVersion, kind } = target;
  return { type, object: { ...object, apiVersion, kind } satisfies KubeObject };
}
