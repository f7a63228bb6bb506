/** A Go template as far as it matters where data goes. Offsets are those of the file. */
export type Node =
  | { is: 'print'; pipe: Pipe }
  | { is: 'if' | 'with' | 'range'; pipe: Pipe; body: Node[]; otherwise: Node[] }
  | { is: 'define'; name: string; body: Node[] }
  | { is: 'block'; name: string; pipe: Pipe; body: Node[] }
  | { is: 'template'; name: string; pipe: Pipe | undefined };

export interface Pipe {
  /** `$a, $b :=`; `=` gives another value to one that is there. */
  names: string[];
  declares: boolean;
  commands: Operand[][];
  start: number;
  end: number;
}

export interface Operand {
  base:
    | { is: 'dot' }
    | { is: 'variable'; name: string }
    | { is: 'pipe'; pipe: Pipe }
    | { is: 'function'; name: string }
    | { is: 'literal'; text: string };
  /** `.a.b` behind the base, each with the place of its dot. */
  fields: { name: string; start: number }[];
  start: number;
  end: number;
}
