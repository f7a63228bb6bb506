import { type Action, actionsOf, type Token } from './go-tokens.ts';
import type { Node, Operand, Pipe } from './go-tree.ts';
import { TemplateFault } from './template-fault.ts';

const LITERALS = new Set(['true', 'false', 'nil']);

/** Reads a Go template. Throws a TemplateFault for one that Go would not read either. */
export function parseTemplate(text: string): Node[] {
  const reader = new Reader(actionsOf(text));
  const nodes = reader.nodes();
  if (reader.current !== undefined) throw new TemplateFault(reader.current.start, 'there is nothing open to end here');
  return nodes;
}

class Reader {
  readonly #actions: readonly Action[];
  #next = 0;

  constructor(actions: readonly Action[]) {
    this.#actions = actions;
  }

  get current(): Action | undefined {
    return this.#actions[this.#next];
  }

  /** Up to an `else` or `end` that is not of these. */
  nodes(): Node[] {
    const nodes: Node[] = [];
    for (let action = this.current; action !== undefined; action = this.current) {
      const word = wordOf(action);
      if (word === 'end' || word === 'else') return nodes;
      this.#next += 1;
      const node = this.#node(action, word);
      if (node !== undefined) nodes.push(node);
    }
    return nodes;
  }

  #node(action: Action, word: string | undefined): Node | undefined {
    const words = new Words(action, word === undefined ? 0 : 1);
    switch (word) {
      case 'if':
      case 'with':
      case 'range':
        return this.#branch(word, words.pipe());
      case 'define': {
        const name = words.name();
        return { is: 'define', name, body: this.#body(action) };
      }
      case 'block': {
        const name = words.name();
        return { is: 'block', name, pipe: words.pipe(), body: this.#body(action) };
      }
      case 'template':
        return { is: 'template', name: words.name(), pipe: words.isOver() ? undefined : words.pipe() };
      case 'break':
      case 'continue':
        return undefined;
      default:
        return words.isOver() ? undefined : { is: 'print', pipe: words.pipe() };
    }
  }

  #branch(is: 'if' | 'with' | 'range', pipe: Pipe): Node {
    const body = this.nodes();
    const action = this.current;
    if (action === undefined) throw new TemplateFault(pipe.start, `${is} has no end`);
    this.#next += 1;
    if (wordOf(action) === 'end') return { is, pipe, body, otherwise: [] };
    const again = action.tokens[1]?.text;
    if (again === 'if' || again === 'with')
      return { is, pipe, body, otherwise: [this.#branch(again, new Words(action, 2).pipe())] };
    return { is, pipe, body, otherwise: this.#body(action) };
  }

  #body(opened: Action): Node[] {
    const body = this.nodes();
    const action = this.current;
    if (action === undefined || wordOf(action) !== 'end') throw new TemplateFault(opened.start, 'this has no end');
    this.#next += 1;
    return body;
  }
}

const WORDS = new Set([...['if', 'else', 'with', 'range', 'end', 'define', 'block', 'template', 'break', 'continue']]);

function wordOf({ tokens }: Action): string | undefined {
  const [first] = tokens;
  return first?.type === 'word' && WORDS.has(first.text) ? first.text : undefined;
}

/** The words of one action, read from the left. */
class Words {
  readonly #action: Action;
  #at: number;

  constructor(action: Action, at: number) {
    this.#action = action;
    this.#at = at;
  }

  isOver(): boolean {
    return this.#at >= this.#action.tokens.length;
  }

  name(): string {
    const token = this.#take();
    if (token.type !== 'text') throw new TemplateFault(token.start, 'a name in quotes is expected here');
    return textOf(token.text);
  }

  pipe(): Pipe {
    const start = this.#peek()?.start ?? this.#action.start;
    const { names, declares } = this.#declaration();
    const commands: Operand[][] = [this.#command()];
    while (this.#isSign('|')) {
      this.#at += 1;
      commands.push(this.#command());
    }
    const end = this.#action.tokens[this.#at - 1]?.end ?? start;
    const rest = this.#peek();
    if (rest !== undefined && rest.text !== ')')
      throw new TemplateFault(rest.start, `"${rest.text}" is not expected here`);
    return { names, declares, commands, start, end };
  }

  #declaration(): { names: string[]; declares: boolean } {
    const names: string[] = [];
    let at = this.#at;
    for (let token = this.#action.tokens[at]; token?.type === 'variable'; token = this.#action.tokens[at]) {
      names.push(token.text);
      const sign = this.#action.tokens[at + 1];
      if (sign?.type !== 'sign' || !['=', ':=', ','].includes(sign.text)) break;
      at += 2;
      if (sign.text === ',') continue;
      this.#at = at;
      return { names, declares: sign.text === ':=' };
    }
    return { names: [], declares: false };
  }

  #command(): Operand[] {
    const operands: Operand[] = [];
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (token.type === 'sign' && token.text !== '(') break;
      operands.push(this.#operand());
    }
    if (operands.length === 0)
      throw new TemplateFault(this.#peek()?.start ?? this.#action.start, 'a value is missing here');
    return operands;
  }

  #operand(): Operand {
    const token = this.#take();
    const fields: Operand['fields'] = [];
    const base = this.#base(token);
    if (token.type === 'field') fields.push({ name: token.text.slice(1), start: token.start });
    let { end } = this.#action.tokens[this.#at - 1] ?? token;
    // Without a space between them they are of one value.
    for (let next = this.#peek(); next?.type === 'field' && next.start === end; next = this.#peek()) {
      fields.push({ name: next.text.slice(1), start: next.start });
      this.#at += 1;
      end = next.end;
    }
    return { base, fields, start: token.start, end };
  }

  #base(token: Token): Operand['base'] {
    if (token.type === 'field' || token.type === 'dot') return { is: 'dot' };
    if (token.type === 'variable') return { is: 'variable', name: token.text };
    if (token.type === 'word')
      return LITERALS.has(token.text) ? { is: 'literal', text: token.text } : { is: 'function', name: token.text };
    if (token.text !== '(') return { is: 'literal', text: token.type === 'text' ? textOf(token.text) : token.text };
    const pipe = this.pipe();
    if (!this.#isSign(')')) throw new TemplateFault(token.start, 'a parenthesis is not closed');
    this.#at += 1;
    return { is: 'pipe', pipe };
  }

  #isSign(text: string): boolean {
    const token = this.#peek();
    return token?.type === 'sign' && token.text === text;
  }

  #peek(): Token | undefined {
    return this.#action.tokens[this.#at];
  }

  #take(): Token {
    const token = this.#peek();
    if (token === undefined) throw new TemplateFault(this.#action.start, 'this is not complete');
    this.#at += 1;
    return token;
  }
}

/** What Go's quotes mean, as far as names go. */
function textOf(quoted: string): string {
  if (!quoted.startsWith('"')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}
