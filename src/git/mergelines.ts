import { diffLines } from './linediff.ts';

/** Bytes of a file beyond which two changes to it are a conflict rather than merged. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Work for one file: some tenths of a second. */
const MAX_STEPS = 20_000_000;
const BINARY_LOOK = 8_000;

interface Change {
  side: 0 | 1;
  /** The lines of the ancestor that were replaced, and the side's own in their place. */
  from: number;
  to: number;
  start: number;
  end: number;
}

/**
 * What two changed versions of a text make together, as Git merges them: changes that neither overlap nor touch are taken from
 * both sides, equal ones once. Undefined is a conflict; so are binary files, and what is too large or too repetitive to compare.
 */
export function mergeLines(ancestor: Buffer, ours: Buffer, theirs: Buffer): Buffer | undefined {
  const texts = [ancestor, ours, theirs];
  if (texts.some((text) => text.length > MAX_TEXT_BYTES || text.subarray(0, BINARY_LOOK).includes(0))) return undefined;
  const numbers = new Map<string, number>();
  const [o, a, b] = [ancestor, ours, theirs].map((text) => numberLines(text, numbers));
  if (o === undefined || a === undefined || b === undefined) return undefined;
  const left = changesOf(o.ids, a.ids, 0);
  const right = changesOf(o.ids, b.ids, 1);
  if (left === undefined || right === undefined) return undefined;
  const sides = [a, b] as const;
  const changes = [...left, ...right].sort((x, y) => x.from - y.from);
  const parts: string[] = [];
  let done = 0;
  for (let i = 0; i < changes.length; ) {
    const group = touching(changes, i);
    const from = Math.min(...group.map((change) => change.from));
    const to = Math.max(...group.map((change) => change.to));
    parts.push(...o.lines.slice(done, from));
    const [mine, its] = sides.map(({ lines }, side) => {
      const own = group.filter((change) => change.side === side);
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || last === undefined) return undefined;
      return lines.slice(first.start - (first.from - from), last.end + (to - last.to));
    });
    if (mine !== undefined && its !== undefined && mine.join('') !== its.join('')) return undefined;
    parts.push(...(mine ?? its ?? []));
    done = to;
    i += group.length;
  }
  parts.push(...o.lines.slice(done));
  return Buffer.from(parts.join(''), 'latin1');
}

/** Lines with their ends, a byte to a character; equal ones have one number. */
function numberLines(text: Buffer, numbers: Map<string, number>): { lines: string[]; ids: Int32Array } {
  const lines = text.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const ids = Int32Array.from(lines, (line) => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  });
  return { lines, ids };
}

function changesOf(from: Int32Array, to: Int32Array, side: 0 | 1): Change[] | undefined {
  const diff = diffLines(from, to, MAX_STEPS);
  if (diff === undefined) return undefined;
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    const change = { side, from: i, to: i, start: j, end: j };
    while (diff.removed[i] === 1) i += 1;
    while (diff.added[j] === 1) j += 1;
    if (i > change.from || j > change.start) changes.push({ ...change, to: i, end: j });
    i += 1;
    j += 1;
  }
  return changes;
}

/** A change and the ones that overlap or touch it, or one another. */
function touching(changes: Change[], start: number): Change[] {
  let end = start;
  let reach = -1;
  for (let change = changes[end]; change !== undefined; change = changes[end]) {
    if (end > start && change.from > reach) break;
    reach = Math.max(reach, change.to);
    end += 1;
  }
  return changes.slice(start, end);
}
