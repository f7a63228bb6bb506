import { TemplateFault } from './template-fault.ts';

/** One word inside of `{{ }}`, and where it stands in the file. */
export interface Token {
  type: 'field' | 'dot' | 'variable' | 'word' | 'text' | 'number' | 'sign';
  text: string;
  start: number;
  end: number;
}

/** One `{{ … }}` that does something. */
export interface Action {
  start: number;
  tokens: Token[];
}

const SPACE = /[ \t\r\n]/;
/** In the order in which Go's own lexer tries them. */
const TOKENS: readonly [Token['type'], RegExp][] = [
  ['text', /"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)*'/y],
  ['number', /[+-]?(?:0[xX][0-9a-fA-F_.]+(?:[pP][+-]?\d+)?|0[bBoO][0-9_]+|\.?\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?)i?/y],
  ['field', /\.[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['dot', /\./y],
  ['variable', /\$[\p{L}\p{Nd}_]*/uy],
  ['word', /[\p{L}_][\p{L}\p{Nd}_]*/uy],
  ['sign', /:=|[=|(),]/y],
];

/** The actions of a Go template; comments and the text around are passed over. */
export function actionsOf(text: string): Action[] {
  const actions: Action[] = [];
  for (let at = text.indexOf('{{'); at >= 0; at = text.indexOf('{{', at)) {
    const start = at;
    at += 2;
    if (text[at] === '-' && SPACE.test(text[at + 1] ?? '')) at += 2;
    if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2);
      if (end < 0) throw new TemplateFault(start, 'a comment is not closed');
      at = end + 2;
      continue;
    }
    const action: Action = { start, tokens: [] };
    at = readAction(text, at, action);
    actions.push(action);
  }
  return actions;
}

function readAction(text: string, from: number, action: Action): number {
  for (let at = from; ; ) {
    while (SPACE.test(text[at] ?? '')) at += 1;
    if (text.startsWith('}}', at)) return at + 2;
    if (text.startsWith('-}}', at) && SPACE.test(text[at - 1] ?? '')) return at + 3;
    const token = tokenAt(text, at);
    if (token === undefined) throw new TemplateFault(Math.min(at, text.length - 1), whyNone(text, at));
    action.tokens.push(token);
    at = token.end;
  }
}

function whyNone(text: string, at: number): string {
  if (!/^\w-\w/.test(text.slice(at - 1, at + 2))) return 'this is no Go template';
  return 'no name has a dash here: such a parameter is read by {{ index . "my-name" }}';
}

function tokenAt(text: string, start: number): Token | undefined {
  for (const [type, pattern] of TOKENS) {
    pattern.lastIndex = start;
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) return { type, text: found, start, end: start + found.length };
  }
  return undefined;
}
