import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import type { Json } from '../api/index.ts';
import type { FieldChange } from './changes.ts';
import { isObject } from './json.ts';

/** Beyond these a text counts as replaced: a diff would cost more than it tells. */
const MAX_EDITS = 2000;
const MAX_TEXT = 1_000_000;
const LONGEST_INLINE = 100;

/** One change as lines that begin with `+`, `-`, `~` or a space, as in a diff. The first says the path. */
export function changeLines(change: FieldChange): string[] {
  const [old, now] = ['old' in change ? change.old : undefined, 'new' in change ? change.new : undefined];
  if (typeof old === 'string' && typeof now === 'string' && isText(old) && isText(now)) {
    return [`~ ${change.path}:`, ...textDiff(old, now)];
  }
  if (isInline(old) && isInline(now)) {
    if (old === undefined) return [`+ ${change.path}: ${inline(now)}`];
    if (now === undefined) return [`- ${change.path}: ${inline(old)}`];
    return [`~ ${change.path}: ${inline(old)} → ${inline(now)}`];
  }
  const removed = old === undefined ? [] : blockLines(old).map((line) => `-   ${line}`);
  const added = now === undefined ? [] : blockLines(now).map((line) => `+   ${line}`);
  const sign = old === undefined ? '+' : now === undefined ? '-' : '~';
  return [`${sign} ${change.path}:`, ...removed, ...added];
}

/** A value as YAML would show it, for reading: two spaces a level, strings quoted only where they must be. */
export function blockLines(value: Json): string[] {
  if (Array.isArray(value)) {
    return value.length === 0 ? ['[]'] : value.flatMap((item) => hang('- ', blockLines(item)));
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    return entries.length === 0 ? ['{}'] : entries.flatMap(([name, field]) => fieldLines(printText(name), field));
  }
  if (typeof value === 'string' && isText(value))
    return [
      '|',
      ...value
        .replace(/\n$/, '')
        .split('\n')
        .map((l) => `  ${l}`),
    ];
  return [inline(value)];
}

function fieldLines(name: string, value: Json): string[] {
  const [first = '', ...rest] = blockLines(value);
  const isNested = (isObject(value) && Object.keys(value).length > 0) || (Array.isArray(value) && value.length > 0);
  if (!isNested) return [`${name}: ${first}`, ...rest];
  return [`${name}:`, ...[first, ...rest].map((line) => (isObject(value) ? `  ${line}` : line))];
}

function hang(mark: string, [first = '', ...rest]: string[]): string[] {
  return [mark + first, ...rest.map((line) => `  ${line}`)];
}

function textDiff(old: string, now: string): string[] {
  const isHuge = old.length + now.length > MAX_TEXT;
  const patch = isHuge
    ? undefined
    : createTwoFilesPatch('', '', old, now, undefined, undefined, {
        context: 2,
        maxEditLength: MAX_EDITS,
        headerOptions: OMIT_HEADERS,
      });
  if (patch === undefined) {
    const count = (text: string) => `${text.split('\n').length} lines`;
    return [`-   (${count(old)})`, `+   (${count(now)}, too different to compare line by line)`];
  }
  // Line numbers inside of a value tell nobody anything: between parts that are apart there is a mark instead.
  const [, ...lines] = patch.replace(/\n$/, '').split('\n');
  return lines.map((line) => (line.startsWith('@@') ? '    …' : `${line[0] ?? ' '}   ${line.slice(1)}`));
}

function isText(value: string): boolean {
  return value.includes('\n');
}

function isInline(value: Json | undefined): boolean {
  if (value === undefined || typeof value !== 'object' || value === null)
    return typeof value !== 'string' || !isText(value);
  return JSON.stringify(value).length <= LONGEST_INLINE && !Object.values(value).some((field) => isObject(field));
}

function inline(value: Json | undefined): string {
  return typeof value === 'string' ? printText(value) : JSON.stringify(value ?? null);
}

function printText(text: string): string {
  const isPlain =
    /^[A-Za-z_/.•](?:[^\n:#"'\\]|:(?=\S))*$/.test(text) && !/^(true|false|null|yes|no|on|off)$|\s$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
