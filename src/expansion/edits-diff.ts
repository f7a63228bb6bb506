import { lineDiff } from '../plan/line-diff.ts';
import type { Edit } from './json-insert.ts';

const CONTEXT = 3;
const LONGEST = 240;
const SHOWN = 80;

interface Region {
  /** Lines of the old text, counted from 0: first, and one past the last. */
  first: number;
  last: number;
  edits: Edit[];
}

/** A unified diff made of known edits: a text of any size costs but its lines. Long lines are shown around what changes. */
export function editsDiff(name: string, text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return '';
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  if (starts.at(-1) === text.length) starts.pop();
  const lineOf = (at: number) => starts.findLastIndex((start) => start <= at);
  const regions: Region[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    const first = Math.max(0, lineOf(edit.start) - CONTEXT);
    const last = Math.min(starts.length, lineOf(edit.end) + 1 + CONTEXT);
    const before = regions.at(-1);
    if (before !== undefined && first <= before.last) {
      before.last = last;
      before.edits.push(edit);
    } else regions.push({ first, last, edits: [edit] });
  }
  let shift = 0;
  const hunks = regions.map((region) => {
    const [from, to] = [starts[region.first] ?? 0, starts[region.last] ?? text.length];
    const moved = region.edits.map((edit) => ({ ...edit, start: edit.start - from, end: edit.end - from }));
    const lines = lineDiff(...beforeAndAfter(text.slice(from, to), moved));
    const [old, now] = ['+', '-'].map((other) => lines.filter((line) => !line.startsWith(other)).length) as [
      number,
      number,
    ];
    const head = `@@ -${region.first + 1},${old} +${region.first + 1 + shift},${now} @@\n`;
    shift += now - old;
    return head + lines.join('');
  });
  return `--- ${name}\n+++ ${name}\n${hunks.join('')}`;
}

function beforeAndAfter(text: string, edits: readonly Edit[]): [string, string] {
  let [before, after, from] = ['', '', 0];
  for (const { start, end, insert } of edits) {
    const kept = shortened(text.slice(from, start));
    before += kept + text.slice(start, end);
    after += kept + insert;
    from = end;
  }
  const rest = shortened(text.slice(from));
  return [before + rest, after + rest];
}

/** Many files are one line as a whole. */
function shortened(kept: string): string {
  const lines = kept.split('\n').map((line) => {
    if (line.length <= LONGEST) return line;
    return `${line.slice(0, SHOWN).toWellFormed()}…${line.slice(-SHOWN).toWellFormed()}`;
  });
  return lines.join('\n');
}
