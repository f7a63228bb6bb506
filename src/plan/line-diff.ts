import { diffArrays } from 'diff';

/** Two texts as the lines of a hunk of a unified diff, each marked ` `, `-` or `+`. For texts of some hundred lines. */
export function lineDiff(old: string, now: string): string[] {
  return diffArrays(linesOf(old), linesOf(now)).flatMap(({ added, removed, value }) =>
    value.map((line) => {
      const marked = `${added ? '+' : removed ? '-' : ' '}${line}`;
      return line.endsWith('\n') ? marked : `${marked}\n\\ No newline at end of file\n`;
    }),
  );
}

function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== '');
}
