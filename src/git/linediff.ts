/** Which lines have no partner on the other side. */
export interface LineDiff {
  removed: Uint8Array;
  added: Uint8Array;
}

interface Region {
  a: number;
  aEnd: number;
  b: number;
  bEnd: number;
}

/** A line that occurs more often is not taken as a landmark. */
const MAX_OCCURRENCES = 64;

/**
 * The histogram diff of two texts, whose lines are given as numbers: around the longest run of lines that are rare in `a`, then
 * the same before and after it. Git's merges align texts so, and another alignment could merge repeated lines to another text.
 * Undefined when it takes more than `steps`. Where all common lines are frequent, the whole region counts as changed.
 */
export function diffLines(a: Int32Array, b: Int32Array, steps: number): LineDiff | undefined {
  const diff: LineDiff = { removed: new Uint8Array(a.length), added: new Uint8Array(b.length) };
  const landmarks = new Landmarks(a, b, steps);
  const open: Region[] = [{ a: 0, aEnd: a.length, b: 0, bEnd: b.length }];
  for (let region = open.pop(); region !== undefined; region = open.pop()) {
    const both = region.a < region.aEnd && region.b < region.bEnd;
    const common = both ? landmarks.find(region) : undefined;
    if (landmarks.exhausted) return undefined;
    if (common === undefined) {
      diff.removed.fill(1, region.a, region.aEnd);
      diff.added.fill(1, region.b, region.bEnd);
      continue;
    }
    open.push({ a: common.aEnd, aEnd: region.aEnd, b: common.bEnd, bEnd: region.bEnd });
    open.push({ a: region.a, aEnd: common.a, b: region.b, bEnd: common.b });
  }
  settle(a, diff.removed, b, diff.added);
  settle(b, diff.added, a, diff.removed);
  return diff;
}

/** Looks for what two regions have in common. Its tables are made once for the whole text. */
class Landmarks {
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  /** By line number in `a`: the next equal line of the region, or -1. */
  readonly #next: Int32Array;
  /** By line: the first one of the region and how many there are. */
  readonly #first: Int32Array;
  readonly #count: Int32Array;
  #steps: number;

  constructor(a: Int32Array, b: Int32Array, steps: number) {
    this.#a = a;
    this.#b = b;
    this.#steps = steps;
    this.#next = new Int32Array(a.length);
    const lines = Math.max(a.reduce(larger, -1), b.reduce(larger, -1)) + 1;
    this.#first = new Int32Array(lines);
    this.#count = new Int32Array(lines);
  }

  get exhausted(): boolean {
    return this.#steps < 0;
  }

  find(region: Region): Region | undefined {
    this.#index(region);
    let best: Region | undefined;
    let rarest = MAX_OCCURRENCES + 1;
    let at = region.b;
    while (at < region.bEnd && !this.exhausted) {
      const line = this.#b[at] ?? 0;
      const count = this.#count[line] ?? 0;
      let after = at + 1;
      if (count > 0 && count <= rarest) {
        for (let start = this.#first[line] ?? -1; start >= 0; ) {
          const { run, rarity } = this.#extend(region, start, at, count);
          after = Math.max(after, run.bEnd);
          if (best === undefined ? rarity < rarest : run.aEnd - run.a > best.aEnd - best.a || rarity < rarest) {
            best = run;
            rarest = rarity;
          }
          do start = this.#next[start] ?? -1;
          while (start >= 0 && start < run.aEnd);
        }
      }
      at = after;
    }
    this.#forget(region);
    return rarest > MAX_OCCURRENCES ? undefined : best;
  }

  #index({ a, aEnd, b, bEnd }: Region): void {
    this.#steps -= aEnd - a + bEnd - b;
    for (let i = aEnd - 1; i >= a; i -= 1) {
      const line = this.#a[i] ?? 0;
      const count = this.#count[line] ?? 0;
      this.#next[i] = count === 0 ? -1 : (this.#first[line] ?? -1);
      this.#first[line] = i;
      this.#count[line] = count + 1;
    }
  }

  #forget({ a, aEnd }: Region): void {
    for (let i = a; i < aEnd; i += 1) this.#count[this.#a[i] ?? 0] = 0;
  }

  /** The whole run of equal lines around a pair, and how often the rarest of them occurs. */
  #extend(region: Region, i: number, j: number, count: number): { run: Region; rarity: number } {
    const run = { a: i, aEnd: i + 1, b: j, bEnd: j + 1 };
    let rarity = count;
    while (run.a > region.a && run.b > region.b && this.#a[run.a - 1] === this.#b[run.b - 1]) {
      run.a -= 1;
      run.b -= 1;
      rarity = Math.min(rarity, this.#count[this.#a[run.a] ?? 0] ?? 0);
    }
    while (run.aEnd < region.aEnd && run.bEnd < region.bEnd && this.#a[run.aEnd] === this.#b[run.bEnd]) {
      rarity = Math.min(rarity, this.#count[this.#a[run.aEnd] ?? 0] ?? 0);
      run.aEnd += 1;
      run.bEnd += 1;
    }
    this.#steps -= run.aEnd - run.a;
    return { run, rarity };
  }
}

function larger(x: number, y: number): number {
  return Math.max(x, y);
}

/**
 * Moves each block of changed lines that could as well lie elsewhere: down as far as it goes, or up to where the other side
 * has a change too. Blocks that meet become one.
 */
function settle(lines: Int32Array, changed: Uint8Array, otherLines: Int32Array, otherChanged: Uint8Array): void {
  const block = new Block(lines, changed);
  const other = new Block(otherLines, otherChanged);
  do {
    if (block.empty) continue;
    let size: number;
    let top: number;
    let beside: boolean;
    do {
      size = block.size;
      while (block.slideUp()) other.back();
      top = block.end;
      beside = !other.empty;
      while (block.slideDown()) {
        other.forth();
        beside ||= !other.empty;
      }
    } while (size !== block.size);
    if (block.end === top || !beside) continue;
    while (other.empty && block.slideUp()) other.back();
  } while (block.forth() && other.forth());
}

/** A run of changed lines, maybe of none, between two that are not: there is one for each line that is not changed, and one more. */
class Block {
  readonly #lines: Int32Array;
  readonly #changed: Uint8Array;
  #start = 0;
  #end = 0;

  constructor(lines: Int32Array, changed: Uint8Array) {
    this.#lines = lines;
    this.#changed = changed;
    this.#grow();
  }

  get empty(): boolean {
    return this.#start === this.#end;
  }

  get end(): number {
    return this.#end;
  }

  get size(): number {
    return this.#end - this.#start;
  }

  forth(): boolean {
    if (this.#end === this.#lines.length) return false;
    this.#start = this.#end + 1;
    this.#end = this.#start;
    this.#grow();
    return true;
  }

  back(): boolean {
    if (this.#start === 0) return false;
    this.#end = this.#start - 1;
    this.#start = this.#end;
    this.#grow();
    return true;
  }

  slideDown(): boolean {
    if (this.#end === this.#lines.length || this.#lines[this.#start] !== this.#lines[this.#end]) return false;
    this.#changed[this.#start++] = 0;
    this.#changed[this.#end++] = 1;
    this.#grow();
    return true;
  }

  slideUp(): boolean {
    if (this.#start === 0 || this.#lines[this.#start - 1] !== this.#lines[this.#end - 1]) return false;
    this.#changed[--this.#start] = 1;
    this.#changed[--this.#end] = 0;
    this.#grow();
    return true;
  }

  #grow(): void {
    while (this.#changed[this.#end] === 1) this.#end += 1;
    while (this.#start > 0 && this.#changed[this.#start - 1] === 1) this.#start -= 1;
  }
}
