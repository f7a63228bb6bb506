interface Place {
  priority: number;
  group: string;
  since: number;
}

/** Keys of one priority, by group; both maps in the order of their turn. */
type Level = Map<string, Map<string, Place>>;

/**
 * The keys that are ready to run, in the order in which they should: higher priority first; inside a priority the
 * groups take turns, so a thousand keys of one kind delay a key of another by one; inside a group first come, first
 * served. Whoever has waited longer than `patienceMs` goes first, so that no stream of urgent keys starves the rest.
 */
export class FairLine {
  readonly #patienceMs: number;
  readonly #groupOf: (key: string) => string;
  readonly #places = new Map<string, Place>();
  readonly #levels = new Map<number, Level>();

  constructor(patienceMs: number, groupOf: (key: string) => string) {
    this.#patienceMs = patienceMs;
    this.#groupOf = groupOf;
  }

  get size(): number {
    return this.#places.size;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  /** Since when the key that has waited longest waits. */
  oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { since } of this.#places.values()) {
      if (oldest === undefined || since < oldest) oldest = since;
    }
    return oldest;
  }

  /** A key that is in line already keeps its place, unless the new priority is higher. */
  push(key: string, priority: number, now: number): void {
    const place = this.#places.get(key);
    if (place === undefined) this.#insert(key, { priority, group: this.#groupOf(key), since: now });
    else if (priority > place.priority) {
      this.#remove(key, place);
      this.#insert(key, { ...place, priority });
    }
  }

  take(now: number): string | undefined {
    const next = this.#longestWaiting(now) ?? this.#mostUrgent();
    if (next === undefined) return undefined;
    const [key, place] = next;
    this.#remove(key, place);
    this.#endTurn(place);
    return key;
  }

  #longestWaiting(now: number): [string, Place] | undefined {
    let longest: [string, Place] | undefined;
    for (const level of this.#levels.values()) {
      for (const keys of level.values()) {
        const first = firstOf(keys);
        if (first === undefined || now - first[1].since < this.#patienceMs) continue;
        if (longest === undefined || first[1].since < longest[1].since) longest = first;
      }
    }
    return longest;
  }

  #mostUrgent(): [string, Place] | undefined {
    if (this.#levels.size === 0) return undefined;
    const level = this.#levels.get(Math.max(...this.#levels.keys()));
    const group = level && firstOf(level);
    return group && firstOf(group[1]);
  }

  #insert(key: string, place: Place): void {
    this.#places.set(key, place);
    const level: Level = this.#levels.get(place.priority) ?? new Map();
    const keys = level.get(place.group) ?? new Map<string, Place>();
    this.#levels.set(place.priority, level.set(place.group, keys.set(key, place)));
  }

  #remove(key: string, place: Place): void {
    this.#places.delete(key);
    const level = this.#levels.get(place.priority);
    const keys = level?.get(place.group);
    keys?.delete(key);
    if (keys?.size === 0) level?.delete(place.group);
    if (level?.size === 0) this.#levels.delete(place.priority);
  }

  /** The group that was just served goes behind the others of its priority. */
  #endTurn({ priority, group }: Place): void {
    const level = this.#levels.get(priority);
    const keys = level?.get(group);
    if (level === undefined || keys === undefined) return;
    level.delete(group);
    level.set(group, keys);
  }
}

function firstOf<K, V>(map: Map<K, V>): [K, V] | undefined {
  const { value, done } = map.entries().next();
  return done ? undefined : value;
}
