import type { Json } from '../api/index.ts';
import type { Place } from './json-places.ts';

/** `text.slice(start, end)` becomes `insert`. */
export interface Edit {
  start: number;
  end: number;
  insert: string;
}

/** How a text is written: its line end and one step of its indentation, or none when it is all in one line. */
interface Layout {
  lineEnd: string;
  step: string;
  colon: string;
}

/** The layout of the file as its outermost object shows it. */
export function layoutOf(text: string, root: Place): Layout {
  const [first] = root.members;
  const colon = /"\s*:\s/.test(text.slice(0, 10_000)) || first === undefined ? ': ' : ':';
  if (first === undefined) return { lineEnd: '\n', step: '  ', colon };
  const gap = text.slice(root.start + 1, first.start);
  const lineEnd = /\r?\n/.exec(gap)?.[0] ?? '';
  return { lineEnd, step: gap.slice(gap.lastIndexOf('\n') + 1), colon };
}

/** Adds members to an object, or items to an array, behind its last one and written as that is. */
export function insertInto(
  text: string,
  into: Place,
  added: readonly [string | undefined, Json][],
  layout: Layout,
): Edit {
  const starts = [...into.members.map((member) => member.start), ...into.items.map((item) => item.start)];
  const last = [...into.members.map((member) => member.place), ...into.items].at(-1);
  const [first, second] = starts;
  if (last === undefined || first === undefined) {
    const indent = lineIndent(text, into.start);
    const isInline = layout.lineEnd === '';
    const inner = isInline ? '' : layout.lineEnd + indent + layout.step;
    const gap = isInline && layout.colon !== ':' ? ', ' : ',';
    const written = added.map(([name, value]) => member(name, value, layout, indent + layout.step));
    const [open, close] = into.kind === 'array' ? '[]' : '{}';
    const body = written.map((one) => inner + one).join(isInline ? gap : ',');
    return {
      start: into.start,
      end: into.end,
      insert: `${open}${body}${isInline ? '' : layout.lineEnd + indent}${close}`,
    };
  }
  const gap = text.slice(into.start + 1, first);
  const isBroken = gap.includes('\n');
  // One to a line, or all in one line with or without a space behind the comma.
  const between = isBroken || second === undefined ? '' : (/\s*$/.exec(text.slice(0, second))?.[0] ?? '');
  const space = second === undefined && layout.colon !== ':' ? ' ' : between;
  const indent = isBroken ? gap.slice(gap.lastIndexOf('\n') + 1) : '';
  const compactItems = into.kind === 'array' && !text.slice(last.start, last.end).includes('\n');
  const own = isBroken && !(compactItems && last.kind === 'object') ? layout : { ...layout, lineEnd: '' };
  const insert = added.map(([name, value]) => `,${isBroken ? gap : space}${member(name, value, own, indent)}`).join('');
  return { start: last.end, end: last.end, insert };
}

function member(name: string | undefined, value: Json, layout: Layout, indent: string): string {
  const text = written(value, layout, indent);
  return name === undefined ? text : `${JSON.stringify(name)}${layout.colon}${text}`;
}

function written(value: Json, layout: Layout, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const names = Array.isArray(value) ? value.map(() => undefined) : Object.keys(value);
  const values: Json[] = Object.values(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (layout.lineEnd === '') {
    const body = values.map((one, index) => member(names[index], one, layout, ''));
    return `${open}${body.join(layout.colon === ':' ? ',' : ', ')}${close}`;
  }
  const inner = indent + layout.step;
  const body = values.map((one, index) => `${layout.lineEnd}${inner}${member(names[index], one, layout, inner)}`);
  return `${open}${body.join(',')}${layout.lineEnd}${indent}${close}`;
}

/** Puts a value where another one stands. */
export function replaceWith(text: string, place: Place, value: Json, layout: Layout): Edit {
  return { start: place.start, end: place.end, insert: written(value, layout, lineIndent(text, place.start)) };
}

function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** The edits do not overlap; they may come in any order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let [result, from] = ['', 0];
  for (const { start, end, insert } of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(from, start) + insert;
    from = end;
  }
  return result + text.slice(from);
}
