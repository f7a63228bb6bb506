/** One fenced block of a Markdown page. */
export interface Block {
  language: string;
  /** What follows the language: `refused`, `result`. */
  mark: string;
  /** From a first line `# file: path`. */
  file: string | undefined;
  text: string;
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+) ?(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', mark = '', body = '']) => {
      const file = /^# file: (\S+)\n/.exec(body)?.[1];
      return { language, mark, file, text: file === undefined ? body : body.slice(body.indexOf('\n') + 1) };
    },
  );
}
