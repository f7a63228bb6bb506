/** Text that is put into a file. `rank` orders what goes to one place: what opens, what belongs to the value, what closes. */
export interface Edit {
  at: number;
  rank: number;
  insert: string;
  /** So many characters behind the place go. */
  remove?: number;
}

export function withEdits(text: string, edits: readonly Edit[]): string {
  const inOrder = edits.map((edit, index) => ({ ...edit, index })).sort(before);
  let [made, at] = ['', 0];
  for (const edit of inOrder) {
    made += text.slice(at, edit.at) + edit.insert;
    at = edit.at + (edit.remove ?? 0);
  }
  return made + text.slice(at);
}

function before(a: Edit & { index: number }, b: Edit & { index: number }): number {
  return a.at - b.at || a.rank - b.rank || a.index - b.index;
}
