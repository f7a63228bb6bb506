export interface Limits {
  /** Requests under way at once. */
  inFlight: number;
  /** Requests a second on average, with `burst` at once; no such limit when absent. */
  qps?: number;
  burst?: number;
}

/** Gives out places for requests, first come, first served. `release` must be called once for each place. */
export interface Limiter {
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** Requests that wait for a place. */
  readonly waiting: number;
}

/**
 * Bounds what is under way and not how many a second: the API server's priority and fairness sheds load with 429 and
 * Retry-After, which a fixed rate can only guess at. A rate is there for servers without it.
 */
export function createLimiter(limits: Limits, now: () => number = () => performance.now()): Limiter {
  const { inFlight, qps } = limits;
  const burst = limits.burst ?? inFlight;
  const line: { go: () => void }[] = [];
  let running = 0;
  let tokens = burst;
  let filledAt = now();
  let refilling = false;

  /** Milliseconds until the rate allows another request; 0 takes it. */
  function takeToken(): number {
    if (qps === undefined) return 0;
    const time = now();
    tokens = Math.min(burst, tokens + ((time - filledAt) / 1000) * qps);
    filledAt = time;
    if (tokens < 1) return Math.ceil(((1 - tokens) / qps) * 1000);
    tokens -= 1;
    return 0;
  }

  function advance(): void {
    while (line.length > 0 && running < inFlight && !refilling) {
      const wait = takeToken();
      if (wait > 0) {
        refilling = true;
        setTimeout(refilled, wait);
        return;
      }
      running++;
      line.shift()?.go();
    }
  }

  function refilled(): void {
    refilling = false;
    advance();
  }

  function release(): void {
    running--;
    advance();
  }

  return {
    get waiting() {
      return line.length;
    },
    acquire(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const place = {
          go() {
            signal?.removeEventListener('abort', leave);
            let released = false;
            resolve(() => {
              if (released) return;
              released = true;
              release();
            });
          },
        };
        function leave(): void {
          const index = line.indexOf(place);
          if (index >= 0) line.splice(index, 1);
          reject(signal?.reason);
        }
        signal?.addEventListener('abort', leave, { once: true });
        line.push(place);
        advance();
      });
    },
  };
}
