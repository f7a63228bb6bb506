/** One way in which a file names another module. */
export interface Import {
  specifier: string;
  line: number;
  form: 'import' | 'export' | 'dynamic' | 'require';
  /** `import type` and `export type`: gone at run time. */
  typeOnly: boolean;
}

export interface Scanned {
  imports: Import[];
  /** Lines of `import(…)` and `require(…)` whose module is not a literal, which nobody can check. */
  computed: number[];
  /** The source with comments, strings and regular expressions emptied, lines kept. */
  code: string;
}

const FROM = /\b(import|export)\b\s*(type\b)?[\w$\s{},*]*?\bfrom\s*"(\d+)"/g;
const BARE = /\bimport\s*"(\d+)"/g;
const DYNAMIC = /(?<![.\w$])import\s*\(\s*(?:"(\d+)"\s*[,)])?/g;
const REQUIRE = /\b(?:require|createRequire\s*\([^()]*\))\s*\(\s*(?:"(\d+)"\s*\))?/g;

/** Finds every static, dynamic, type-only and re-exporting import, and none in a comment or a string. */
export function scan(source: string): Scanned {
  const { code, strings } = blank(source);
  const imports: Import[] = [];
  const computed: number[] = [];
  const lineAt = (index: number): number => code.slice(0, index).split('\n').length;
  const add = (index: string | undefined, at: number, form: Import['form'], typeOnly: boolean): void => {
    imports.push({ specifier: strings[Number(index)] ?? '', line: lineAt(at), form, typeOnly });
  };

  for (const match of code.matchAll(FROM)) {
    add(match[3], match.index, match[1] === 'export' ? 'export' : 'import', match[2] !== undefined);
  }
  for (const match of code.matchAll(BARE)) add(match[1], match.index, 'import', false);
  for (const [form, pattern] of [
    ['dynamic', DYNAMIC],
    ['require', REQUIRE],
  ] as const) {
    for (const match of code.matchAll(pattern)) {
      if (match[1] === undefined) computed.push(lineAt(match.index));
      else add(match[1], match.index, form, false);
    }
  }
  return { imports, computed, code };
}

/** A slash after one of these begins a regular expression; after anything else it divides. */
const BEFORE_REGEX = /(?:^|[=([{,;:!&|?+\-*%~^<>}]|=>|\b(?:return|typeof|case|in|of|await|yield))\s*$/;

/** Replaces each string by its number in quotes and empties comments and regular expressions. */
function blank(source: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  const templates: number[] = [];
  let code = '';
  let depth = 0;
  let at = 0;

  const skipTo = (end: number): void => {
    code += source.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  const keepString = (end: number): void => {
    code += `"${strings.push(source.slice(at + 1, end - 1)) - 1}"`;
    at = end;
  };
  /** The text of a template up to its end or its next `${`; what is inside the braces is code again. */
  const template = (): void => {
    const [text = ''] = /^(?:\\[\s\S]|(?!\$\{)[^`\\])*/.exec(source.slice(at)) ?? [];
    skipTo(at + text.length);
    if (source.startsWith('${', at)) {
      templates.push(depth++);
      skipTo(at + 2);
    } else at++;
  };

  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const char = rest[0] ?? '';
    if (rest === '//') skipTo(endOf(source, at, /\n|$/));
    else if (rest === '/*') skipTo(endOf(source, at + 2, /\*\/|$/, true));
    else if (char === '"' || char === "'") keepString(at + (STRING.exec(source.slice(at))?.[0].length ?? 1));
    else if (char === '`') {
      at++;
      template();
    } else if (char === '}' && templates.at(-1) === depth - 1) {
      templates.pop();
      depth--;
      at++;
      template();
    } else if (char === '/' && BEFORE_REGEX.test(code.slice(-40))) {
      skipTo(at + (REGEX.exec(source.slice(at))?.[0].length ?? 1));
    } else {
      if (char === '{') depth++;
      if (char === '}') depth--;
      code += char;
      at++;
    }
  }
  return { code, strings };
}

const STRING = /^(["'])(?:\\[\s\S]|(?!\1)[^\\\n])*\1/;
const REGEX = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/;

function endOf(source: string, from: number, end: RegExp, inclusive = false): number {
  const match = end.exec(source.slice(from));
  return match === null ? source.length : from + match.index + (inclusive ? match[0].length : 0);
}
