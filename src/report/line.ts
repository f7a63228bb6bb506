/** What the narrowest forge has room for. */
export const LONGEST_DESCRIPTION = 140;
const NAMES_LISTED = 5;

/** One line that every forge takes: no control characters, cut at the end of a word. */
export function oneLine(text: string, length = LONGEST_DESCRIPTION): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const flat = text.replace(/[\u0000-\u0020\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ').trim();
  if (flat.length <= length) return flat;
  const cut = flat.slice(0, length - 1);
  const end = cut.lastIndexOf(' ');
  // Half of a character outside of the basic plane is none.
  return `${(end > length / 2 ? cut.slice(0, end) : cut).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The first few, and how many more. */
export function someOf(names: readonly string[], shown = NAMES_LISTED): string {
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${names.slice(0, shown).join(', ')}${more}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
