import { BUILT_IN } from '../render/addon-chart.ts';
import type { Call } from './definitions.ts';
import type { Edit } from './edits.ts';
import { callOf } from './functions.ts';
import type { Node, Operand, Pipe } from './go-tree.ts';
import { elementOf, type Fields, type Kind, OTHER } from './kinds.ts';
import { consume, NOTHING, settled, type Value } from './value.ts';

export interface Surroundings {
  /** A map of what is known of each. */
  parameters: Kind;
  path: string;
  /** What the walk finds. */
  calls: Call[];
  edits: Edit[];
  /** Names that are asked of the parameters. */
  used: { name: string; path: string; at: number }[];
}

/** What may stand behind a dot. */
const FIELD = /^[\p{L}_][\p{L}\p{Nd}_]*$/u;

/** Follows the data through one template, and notes what has to be written otherwise where the data is a chart's. */
export class TemplateWalk {
  readonly #surroundings: Surroundings;
  readonly #root: Kind;
  #dot: Kind;
  #variables: Map<string, Kind>[] = [new Map()];

  constructor(surroundings: Surroundings, data: Kind) {
    this.#surroundings = surroundings;
    this.#root = data;
    this.#dot = data;
  }

  nodes(nodes: readonly Node[]): void {
    for (const node of nodes) this.#node(node);
  }

  #node(node: Node): void {
    switch (node.is) {
      case 'define':
        return;
      case 'print': {
        const value = this.#pipe(node.pipe);
        if (node.pipe.names.length === 0) consume(value);
        return;
      }
      case 'template':
      case 'block': {
        if (node.pipe === undefined) return;
        const value = this.#pipe(node.pipe);
        this.#called(node.name, value, node.pipe.start);
        return;
      }
      default:
        this.#inScope(() => this.#branch(node));
    }
  }

  #branch({ is, pipe, body, otherwise }: Extract<Node, { is: 'if' | 'with' | 'range' }>): void {
    const value = is === 'range' ? this.#ranged(pipe) : this.#pipe(pipe);
    // Zero and NOTHING are false in both ways of reading a number.
    if (is === 'if') this.#inScope(() => this.nodes(body));
    else this.#inScope(() => this.nodes(body), is === 'range' ? elementOf(value.kind) : settled(value));
    this.#inScope(() => this.nodes(otherwise));
  }

  #ranged(pipe: Pipe): Value {
    const value = this.#pipe({ ...pipe, names: [] });
    if (value.kind.is === 'root') {
      value.narrow();
      return { ...value, kind: this.#surroundings.parameters };
    }
    consume(value);
    const element = elementOf(value.kind);
    const [first, second] = pipe.names;
    if (first !== undefined) this.#declare(first, second === undefined ? element : OTHER);
    if (second !== undefined) this.#declare(second, element);
    return value;
  }

  #inScope(walk: () => void, dot = this.#dot): void {
    const before = this.#dot;
    this.#dot = dot;
    this.#variables.push(new Map());
    walk();
    this.#variables.pop();
    this.#dot = before;
  }

  #pipe(pipe: Pipe): Value {
    let value: Value | undefined;
    for (const operands of pipe.commands) value = this.#command(operands, value);
    const made = value ?? NOTHING;
    for (const name of pipe.names) {
      const kind = settled(made);
      if (pipe.declares) this.#declare(name, kind);
      else this.#assign(name, kind);
    }
    return made;
  }

  #command(operands: readonly Operand[], piped: Value | undefined): Value {
    const [head, ...rest] = operands;
    if (head === undefined) return NOTHING;
    if (rest.length === 0 && piped === undefined && head.base.is !== 'function') return this.#operand(head, 'int ', '');
    const values = rest.map((operand) => this.#operand(operand, '(int ', ')'));
    const given = [...values, ...(piped === undefined ? [] : [piped])];
    const literals = rest.map(({ base, fields }) =>
      base.is === 'literal' && fields.length === 0 ? base.text : undefined,
    );
    const end = operands.at(-1)?.end ?? head.end;
    const wrap = (): void => this.#edit(end, 2, ' | int');
    if (head.base.is === 'function' && head.fields.length === 0) {
      const { name } = head.base;
      const { parameters } = this.#surroundings;
      const called = (definition: string, data: Value) => this.#called(definition, data, head.start);
      return {
        kind: callOf(name, given, literals, { parameters, called }),
        narrow: NOTHING.narrow,
        wrap,
        all: NOTHING.all,
      };
    }
    this.#operand(head, '', '');
    for (const value of given) consume(value);
    return NOTHING;
  }

  #called(name: string, value: Value, at: number): void {
    this.#surroundings.calls.push({ name, data: settled(value), path: this.#surroundings.path, at });
  }

  #operand(operand: Operand, open: string, close: string): Value {
    const { base, fields, start, end } = operand;
    let kind = this.#baseKind(base);
    for (const { name, start: at } of fields) kind = this.#field(kind, name, at);
    const isBareDot = base.is === 'dot' && fields.length === 0;
    return {
      kind,
      narrow: () => this.#edit(end, 1, isBareDot ? 'Values' : '.Values'),
      wrap: () => {
        this.#edit(start, 0, open);
        if (close !== '') this.#edit(end, 2, close);
      },
      all: () => {
        const root = base.is === 'variable' && fields.length === 0 ? `${base.name}.` : '.';
        if (fields.length > 0 || base.is === 'pipe') return this.#edit(end, 1, '.Values');
        const others = BUILT_IN.map((name) => `"${name}" ${root}${name}`).join(' ');
        const values = withIntegers(this.#surroundings.parameters, `${root}Values`);
        this.#edit(start, 1, `(merge ${values} (dict ${others}))`, end - start);
      },
    };
  }

  #baseKind(base: Operand['base']): Kind {
    if (base.is === 'dot') return this.#dot;
    if (base.is === 'pipe') return this.#pipe(base.pipe).kind;
    if (base.is !== 'variable') return OTHER;
    if (base.name === '$') return this.#root;
    return this.#variables.findLast((scope) => scope.has(base.name))?.get(base.name) ?? OTHER;
  }

  #field(kind: Kind, name: string, at: number): Kind {
    if (kind.is === 'map') return fieldOf(kind.fields, name);
    if (kind.is !== 'root') return OTHER;
    if (Object.hasOwn(kind.more, name)) return fieldOf(kind.more, name);
    const { parameters } = this.#surroundings;
    const known = parameters.is === 'map' ? parameters.fields : {};
    if (BUILT_IN.includes(name) && !Object.hasOwn(known, name)) return OTHER;
    this.#surroundings.used.push({ name, path: this.#surroundings.path, at });
    this.#edit(at, 1, '.Values');
    return fieldOf(known, name);
  }

  #declare(name: string, kind: Kind): void {
    this.#variables.at(-1)?.set(name, kind);
  }

  #assign(name: string, kind: Kind): void {
    const scope = this.#variables.findLast((one) => one.has(name));
    const before = scope?.get(name);
    if (before !== undefined && before.is !== kind.is) scope?.set(name, OTHER);
  }

  #edit(at: number, rank: number, insert: string, remove = 0): void {
    if (insert !== '') this.#surroundings.edits.push({ at, rank, insert, remove });
  }
}

/** A copy of a map in which integers are integers, as far as maps in it reach. */
function withIntegers(kind: Kind, reference: string): string {
  const fields = kind.is === 'map' ? Object.entries(kind.fields) : [];
  return fields.reduce((copy, [name, field]) => {
    const at = FIELD.test(name) ? `${reference}.${name}` : `(index ${reference} ${JSON.stringify(name)})`;
    if (field.is === 'integer') return `(set ${copy} ${JSON.stringify(name)} (int ${at}))`;
    return field.is === 'map' && holdsInteger(field)
      ? `(set ${copy} ${JSON.stringify(name)} ${withIntegers(field, at)})`
      : copy;
  }, `(deepCopy ${reference})`);
}

function holdsInteger(kind: Kind): boolean {
  return kind.is === 'integer' || (kind.is === 'map' && Object.values(kind.fields).some(holdsInteger));
}

function fieldOf(fields: Fields, name: string): Kind {
  return Object.hasOwn(fields, name) ? (fields[name] ?? OTHER) : OTHER;
}
