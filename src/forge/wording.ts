import { createHash } from 'node:crypto';

/** The shortest of all forges' limits (GitHub's); Gitea and GitLab have 255. One for all, so that a status reads the same everywhere. */
export const DESCRIPTION_LENGTH = 140;
const HASH_LENGTH = 8;

/** One line of at most `most` characters, cut at the end of a word. */
export function shorten(text: string, most: number = DESCRIPTION_LENGTH): string {
  const line = oneLine(text);
  const characters = [...line];
  // GitHub and the databases behind the others count in different units; UTF-16 is the largest that a limit is told in.
  if (line.length <= most) return line;
  let kept = '';
  for (const character of characters) {
    if (kept.length + character.length > most - 1) break;
    kept += character;
  }
  const end = kept.lastIndexOf(' ');
  const atWord = line[kept.length] === ' ' || end < most / 2 ? kept : kept.slice(0, end);
  return `${atWord.replace(/[\s,;:.–-]+$/, '')}…`;
}

/** Without line breaks, control characters and the marks that turn the direction of writing. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what goes
  return text.replace(/[\u0000-\u0020\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ').trim();
}

/** A name within a forge's limit. A longer one ends in a hash of the whole, so that two never become the same. */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, most - HASH_LENGTH - 1)}-${hash}`;
}

/** A link that a forge may show, undefined for anything but http and https. */
export function webLink(url: string | undefined): string | undefined {
  const parsed = url === undefined ? null : URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : undefined;
}
