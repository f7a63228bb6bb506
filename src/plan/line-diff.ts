import { diffArrays } from 'diff';

/** What is changed more than that is shown as taken away and written anew: the shortest difference would take minutes. */
const MOST_CHANGES = 1000;

/** Two texts as the lines of a hunk of a unified diff, each marked ` `, `-` or `+`. */
export function lineDiff(old: string, now: string): string[] {
  const [before, after] = [linesOf(old), linesOf(now)];
  const parts = diffArrays(before, after, { maxEditLength: MOST_CHANGES }) ?? [
    { added: false, removed: true, value: before },
    { added: true, removed: false, value: after },
  ];
  return parts.flatMap(({ added, removed, value }) =>
    value.map((line) => {
      const marked = `${added ? '+' : removed ? '-' : ' '}${line}`;
      return line.endsWith('\n') ? marked : `${marked}\n\\ No newline at end of file\n`;
    }),
  );
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== '');
}
