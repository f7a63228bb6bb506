/** So much in such a time. */
export interface Window {
  ms: number;
  most: number;
}

export interface LimitedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The beginning of its body. */
  text: string;
}

const SECOND = 1000;
const LONGEST_MS = 3_600_000;
const UNTOLD_MS = 60_000;
const LIMIT_WORDS = /rate limit|abuse detection|too many requests|retry later/i;

/**
 * Whether a forge says "not now", and for how long: undefined when it does not. `refusals` counts the limited answers
 * right before this one; where no time is told, each doubles the wait.
 */
export function limitOf(answer: LimitedAnswer, now: number, refusals: number): number | undefined {
  const { status, headers, text } = answer;
  const told = retryAfter(headers, now);
  const spent = remaining(headers) === 0;
  if (status === 503 && told !== undefined) return told;
  if (status === 429 || (status === 403 && (told !== undefined || spent || LIMIT_WORDS.test(text)))) {
    const wait = told ?? (spent ? untilReset(headers, now) : undefined) ?? UNTOLD_MS * 2 ** Math.min(refusals, 6);
    return clamp(wait);
  }
  return undefined;
}

/** How long to wait after an answer that was given but used up what was left; undefined when more is left. */
export function spentBy(answer: LimitedAnswer, now: number): number | undefined {
  if (remaining(answer.headers) !== 0) return undefined;
  const wait = untilReset(answer.headers, now);
  return wait === undefined ? undefined : clamp(wait);
}

/** What Retry-After says, in seconds or as a date. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return clamp(Number(value) * SECOND);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : clamp(date - clockOf(headers, now));
}

function remaining(headers: Readonly<Record<string, string>>): number | undefined {
  const value = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'];
  return value === undefined || !/^\d+$/.test(value.trim()) ? undefined : Number(value);
}

/** The reset is seconds since 1970 or, as the draft standard has it, from now. */
function untilReset(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const value = (headers['x-ratelimit-reset'] ?? headers['ratelimit-reset'])?.trim();
  if (value === undefined || !/^\d+$/.test(value)) return undefined;
  const seconds = Number(value);
  return seconds < 1_000_000_000 ? seconds * SECOND : seconds * SECOND - clockOf(headers, now);
}

/** A time that a forge tells is by its own clock, which it tells too. */
function clockOf(headers: Readonly<Record<string, string>>, now: number): number {
  const date = Date.parse(headers.date ?? '');
  return Number.isNaN(date) ? now : date;
}

function clamp(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), SECOND), LONGEST_MS);
}

/** What is known of one account's limits at one forge. Asks no clock. */
export class Gate {
  readonly #windows: readonly Window[];
  #writes: number[] = [];
  #closedUntil = 0;
  #refusals = 0;

  constructor(windows: readonly Window[]) {
    this.#windows = windows;
  }

  /** Milliseconds until anything may be sent; 0 means now. */
  wait(now: number): number {
    return Math.max(0, this.#closedUntil - now);
  }

  /** Counts one content write, or tells how long to wait for it; one that has to wait is not counted. */
  takeWrite(now: number): number {
    const longest = Math.max(0, ...this.#windows.map(({ ms }) => ms));
    this.#writes = this.#writes.filter((time) => time > now - longest);
    const waits = this.#windows.map(({ ms, most }) => {
      const oldest = this.#writes.at(-most);
      return oldest === undefined ? 0 : Math.max(0, oldest + ms - now);
    });
    const wait = Math.max(0, ...waits);
    if (wait === 0 && this.#windows.length > 0) this.#writes.push(now);
    return wait;
  }

  /** Learns from an answer. What it returns is the wait that the answer itself asks for; undefined for an ordinary one. */
  learn(answer: LimitedAnswer, now: number): number | undefined {
    const limited = limitOf(answer, now, this.#refusals);
    this.#refusals = limited === undefined ? 0 : this.#refusals + 1;
    const wait = limited ?? spentBy(answer, now);
    if (wait !== undefined) this.#closedUntil = Math.max(this.#closedUntil, now + wait);
    return limited;
  }
}

/** Gates by account: Syncs that share a token share its limits. */
export class Gates {
  readonly #gates = new Map<string, Gate>();
  readonly #most: number;

  constructor(most = 1000) {
    this.#most = most;
  }

  of(account: string, windows: readonly Window[]): Gate {
    const gate = this.#gates.get(account) ?? new Gate(windows);
    this.#gates.delete(account);
    this.#gates.set(account, gate);
    for (const oldest of this.#gates.keys()) {
      if (this.#gates.size <= this.#most) break;
      this.#gates.delete(oldest);
    }
    return gate;
  }
}
