import type { Dispatcher } from 'undici';

export interface Call {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body?: string;
  /** Until the whole answer is there; for a stream, until its headers are. */
  deadlineMs: number;
  signal?: AbortSignal;
  /** Runs in the same turn in which the request is written to the socket; throwing keeps it from being sent. */
  beforeSend?: () => void;
}

export type Headers = Record<string, string | string[] | undefined>;

export interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** Where the answer goes. Returning false from `onHead` collects the body instead of streaming it. */
export interface Sink {
  onHead(status: number, headers: Headers): boolean;
  onChunk(chunk: Buffer): void;
}

export type FailureKind = 'timeout' | 'unreachable' | 'aborted' | 'broken' | 'prevented';

/** No answer, or not a whole one. `sent` is false when the server can't have seen the request. */
export class ExchangeFailure extends Error {
  readonly kind: FailureKind;
  readonly sent: boolean;

  constructor(kind: FailureKind, message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
    this.sent = sent;
  }
}

/** A page of 500 objects at etcd's largest object size would not fit; nothing sensible comes near this. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

const unusedSink: Sink = { onHead: () => false, onChunk() {} };

/**
 * One request on one dispatcher. undici's own time-outs are off: a single timer covers waiting for a connection, the
 * headers and the body, and closing the socket on it keeps a dead connection from being used again.
 */
export function exchange(dispatcher: Dispatcher, origin: string, call: Call, sink: Sink = unusedSink): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let sent = false;
    let streaming = false;
    let status = 0;
    let headers: Headers = {};
    let size = 0;
    const chunks: Buffer[] = [];

    function settle(): boolean {
      if (settled) return false;
      settled = true;
      clearTimeout(timer);
      call.signal?.removeEventListener('abort', onAbort);
      return true;
    }
    function fail(kind: FailureKind, message: string, cause?: unknown): void {
      if (!settle()) return;
      const failure = new ExchangeFailure(kind, message, sent, cause);
      reject(failure);
      controller?.abort(failure);
    }
    function onAbort(): void {
      fail('aborted', 'aborted', call.signal?.reason);
    }

    const timer = setTimeout(
      () => fail('timeout', `no ${status === 0 ? 'answer' : 'complete answer'} within ${call.deadlineMs} ms`),
      call.deadlineMs,
    );
    if (call.signal?.aborted) return onAbort();
    call.signal?.addEventListener('abort', onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (settled) return started.abort(new Error('no longer wanted'));
        try {
          call.beforeSend?.();
        } catch (error) {
          return fail('prevented', 'prevented', error);
        }
        sent = true;
      },
      onResponseStart(_controller, statusCode, answered) {
        if (statusCode < 200) return;
        status = statusCode;
        headers = answered;
        streaming = sink.onHead(statusCode, answered);
        if (streaming) clearTimeout(timer);
      },
      onResponseData(_controller, chunk) {
        if (settled) return;
        if (streaming) {
          try {
            sink.onChunk(chunk);
          } catch (error) {
            fail('broken', error instanceof Error ? error.message : String(error), error);
          }
          return;
        }
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES) return fail('broken', `the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
        chunks.push(chunk);
      },
      onResponseEnd() {
        if (!settle()) return;
        const [first] = chunks;
        const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
        resolve({ status, headers, body: whole.toString('utf8') });
      },
      onResponseError(_controller, error) {
        fail(status === 0 ? 'unreachable' : 'broken', error.message, error);
      },
    };
    try {
      dispatcher.dispatch(
        {
          origin,
          method: call.method,
          path: call.path,
          headers: call.headers,
          body: call.body ?? null,
          // A DELETE with a body would cost its connection otherwise, and the next one a handshake.
          reset: false,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        handler,
      );
    } catch (error) {
      fail('unreachable', error instanceof Error ? error.message : String(error), error);
    }
  });
}
