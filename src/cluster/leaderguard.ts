import { EspalierError } from '../api/index.ts';
import type { Clock } from './timing.ts';

/**
 * Proof of being the leader, for one term. `client.guarded(() => guard.check())` keeps every write behind it. A guard
 * that has ended stays ended: a process that was stopped and resumed finds it so before its first write.
 */
export interface LeaderGuard {
  /** Aborts when it is time to wind down: leadership was lost, or the process shall stop (then writes still pass). */
  readonly signal: AbortSignal;
  /** On the steady clock: until then nobody else can be the leader. Moves with each renewal. */
  readonly validUntil: number;
  held(): boolean;
  /** Throws `LeaseLost` unless the lease is provably held at this moment. */
  check(): void;
}

export interface GuardControl extends LeaderGuard {
  extend(until: number): void;
  /** The term is over: no write passes any more. */
  end(why: string): void;
  /** The holder wants to stop: work winds down while the lease is still held. */
  windDown(): void;
}

export function createGuard(validUntil: number, now: () => number, clock: Clock): GuardControl {
  const controller = new AbortController();
  let until = validUntil;
  let ended: string | undefined;
  let timer = clock.setTimeout(expire, until - now());

  function expire(): void {
    if (ended !== undefined) return;
    const left = until - now();
    if (left > 0) timer = clock.setTimeout(expire, left);
    else end('it could not be renewed in time');
  }

  function end(why: string): void {
    if (ended !== undefined) return;
    ended = why;
    timer.clear();
    controller.abort(lost(why));
  }

  function held(): boolean {
    if (ended === undefined && now() >= until) end('it could not be renewed in time');
    return ended === undefined;
  }

  return {
    signal: controller.signal,
    get validUntil() {
      return until;
    },
    held,
    check() {
      if (!held()) throw lost(ended ?? '');
    },
    extend(next) {
      // A renewal that was answered after the term had run out does not bring it back.
      if (held()) until = Math.max(until, next);
    },
    end,
    windDown: () => controller.abort(new EspalierError('Aborted', 'stopping')),
  };
}

function lost(why: string): EspalierError {
  return new EspalierError('LeaseLost', `not the leader any more: ${why}. The replica that holds the lease goes on`);
}
