const NAMES_LISTED = 5;

/** The first few, and how many more. */
export function someOf(names: readonly string[], shown = NAMES_LISTED): string {
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${names.slice(0, shown).join(', ')}${more}`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
