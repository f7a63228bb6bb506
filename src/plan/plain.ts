/** Could drive a terminal, or turn the direction of text around so that one thing looks like another. */
const UNSAFE = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;
const UNSAFE_IN_LINES = new RegExp(`(?![\\t\\n]|\\r\\n)${UNSAFE.source}`, 'gu');

/** Text from a repository or a cluster, made safe to show as one line: what can't be seen is spelled out. */
export function plain(text: string): string {
  return text.replace(UNSAFE, (character) => (character === '\t' ? '  ' : spelled(character)));
}

/** The same for a text of many lines, such as a difference: tabs and line ends stay. */
export function plainLines(text: string): string {
  return text.replace(UNSAFE_IN_LINES, spelled);
}

function spelled(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
