import { plain } from './plain.ts';

/** A code block whose fence is longer than any run of backticks inside. */
export function fence(language: string, lines: readonly string[]): string {
  const body = lines.map(plain).join('\n');
  const longest = (body.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2);
  const marks = '`'.repeat(longest + 1);
  return `${marks}${language}\n${body}\n${marks}`;
}

export function codeSpan(text: string): string {
  const body = plain(text);
  const longest = (body.match(/`+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 0);
  const marks = '`'.repeat(longest + 1);
  return longest === 0 && body.trim() !== '' ? `\`${body}\`` : `${marks} ${body} ${marks}`;
}

/** Every character that could mean something in HTML or Markdown as a character reference. */
export function references(text: string): string {
  return plain(text).replace(/[^A-Za-z0-9 ./-]/gu, (character) => `&#${character.codePointAt(0)};`);
}
