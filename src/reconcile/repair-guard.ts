const WINDOW_MS = 5 * 60_000;
const REPAIRS_IN_WINDOW = 5;
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 60 * 60_000;
const SWEEP_FROM = 1_000;

interface Fight {
  repairs: number[];
  restMs: number;
  restUntil: number;
}

/**
 * Ends fights: when another controller writes a field back as often as we repair it, repairs of that object rest, ever
 * longer, and the status says who it is. A fight that stops is forgotten.
 */
export class RepairGuard {
  readonly #fights = new Map<string, Fight>();

  /** When the object may be repaired again; undefined means now. */
  restsUntil(key: string, now: number): number | undefined {
    const fight = this.#fights.get(key);
    return fight !== undefined && fight.restUntil > now ? fight.restUntil : undefined;
  }

  repaired(key: string, now: number): void {
    if (this.#fights.size >= SWEEP_FROM) this.#sweep(now);
    const fight = this.#fights.get(key) ?? { repairs: [], restMs: 0, restUntil: 0 };
    this.#fights.set(key, fight);
    fight.repairs = fight.repairs.filter((at) => at > now - WINDOW_MS);
    if (fight.repairs.length === 0 && now > fight.restUntil + WINDOW_MS) fight.restMs = 0;
    fight.repairs.push(now);
    // After a rest one single repair shows whether the other side still writes.
    if (fight.repairs.length < REPAIRS_IN_WINDOW && fight.restMs === 0) return;
    fight.restMs = Math.min(LONGEST_REST_MS, fight.restMs === 0 ? FIRST_REST_MS : fight.restMs * 2);
    fight.restUntil = now + fight.restMs;
    fight.repairs = [];
  }

  /** Objects come and go, and nobody tells which are gone for good. */
  #sweep(now: number): void {
    for (const [key, { restUntil, repairs }] of this.#fights) {
      const last = Math.max(restUntil, repairs.at(-1) ?? 0);
      if (last < now - LONGEST_REST_MS) this.#fights.delete(key);
    }
  }
}
