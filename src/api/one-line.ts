/** The shortest of all forges' limits for the description of a status (GitHub's); Gitea and GitLab have 255. */
export const DESCRIPTION_LENGTH = 140;

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
